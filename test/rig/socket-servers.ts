import { createServer, type Socket } from 'node:net';
import { Server, ServerCredentials, type sendUnaryData } from '@grpc/grpc-js';

/** What is answered to each call, in bytes. */
export type Calls = Readonly<
  Record<string, (request: Buffer, reply: sendUnaryData<Buffer>) => void>
>;

type Stop = () => void;

const AS_IT_IS = (bytes: Buffer): Buffer => bytes;

/** A real gRPC server that offers the calls under a service name, such as a CRI version's. */
export async function serveCalls(socket: string, service: string, calls: Calls): Promise<Stop> {
  const server = new Server();
  const definitions = Object.keys(calls).map((name) => [
    name,
    {
      path: `/${service}/${name}`,
      requestStream: false as const,
      responseStream: false as const,
      requestSerialize: AS_IT_IS,
      requestDeserialize: AS_IT_IS,
      responseSerialize: AS_IT_IS,
      responseDeserialize: AS_IT_IS,
    },
  ]);
  const handlers = Object.entries(calls).map(([name, answer]) => [
    name,
    (call: { request: Buffer }, reply: sendUnaryData<Buffer>) => answer(call.request, reply),
  ]);
  server.addService(Object.fromEntries(definitions), Object.fromEntries(handlers));
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix://${socket}`, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    );
  });
  return () => server.forceShutdown();
}

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
