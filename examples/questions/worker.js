const http = require('node:http');

function watchPrices() {
  setInterval(() => {}, 60_000);
}

function listenForReload() {
  http.createServer().listen(0, '127.0.0.1');
}

watchPrices();
listenForReload();
console.log('done, and yet...');
