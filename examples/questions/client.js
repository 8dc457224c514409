const net = require('node:net');

/** Asks one question. Leaves the socket open when the answer is "no". */
exports.ask = (port) =>
  new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.once('data', (answer) => {
      resolve(`${answer}`);
      if (`${answer}` === 'yes') socket.destroy();
    });
  });
