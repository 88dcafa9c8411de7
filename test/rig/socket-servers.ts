import { createServer, type Socket } from 'node:net';

type Stop = () => void;

/** Something that listens and is no runtime. */
export async function listenAt(
  socket: string,
  behave: (connection: Socket) => void,
): Promise<Stop> {
  const connections = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (connection) => {
    connections.add(connection);
    connection.on('error', () => {});
    behave(connection);
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  return () => {
    server.close();
    for (const connection of connections) connection.destroy();
  };
}
