const fs = require('node:fs/promises');
const { setTimeout: pause } = require('node:timers/promises');
const { pbkdf2 } = require('node:crypto');
const { promisify } = require('node:util');

const hash = promisify(pbkdf2);

async function loadOrders() {
  await fs.readFile(__filename);
}

async function sign(order) {
  await hash(order, 'salt', 200_000, 64, 'sha512');
}

async function main() {
  await loadOrders();
  await Promise.all(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map(sign));
  await pause(30);
}

main();
