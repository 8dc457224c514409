const http = require('node:http');

/** Sends `count` requests over `connections` connections, and counts the answers with status 200. */
module.exports = async function load(port, count, connections) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  let sent = 0;
  let answered = 0;

  async function one() {
    while (sent < count) {
      sent++;
      const status = await get({ host: '127.0.0.1', port, agent });
      answered += status === 200 ? 1 : 0;
    }
  }

  await Promise.all(Array.from({ length: connections }, one));
  agent.destroy();
  return answered;
};

function get(options) {
  return new Promise((resolve, reject) => {
    http
      .get(options, (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode));
        response.on('error', reject);
      })
      .on('error', reject);
  });
}
