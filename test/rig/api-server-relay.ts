import { connect, createServer } from 'node:net';

/**
 * Runs inside a network namespace. Each pair of arguments is a Unix socket, which the outside can
 * reach too, and the port on the loopback address that it leads to.
 */
const pairs = process.argv.slice(2);
for (let at = 0; at < pairs.length; at += 2) {
  createServer((outside) => {
    const inside = connect(Number(pairs[at + 1]), '127.0.0.1');
    for (const socket of [outside, inside]) {
      socket.on('error', () => {});
      socket.on('close', () => {
        outside.destroy();
        inside.destroy();
      });
    }
    outside.pipe(inside).pipe(outside);
  }).listen(pairs[at]);
}
