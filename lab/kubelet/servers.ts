import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { runProgram } from '../../src/lib/process/run.ts';
import { systemProgram } from '../../src/lib/process/system-program.ts';
import { CERTIFICATE_BYTES_MAX, CERTIFICATE_MS } from './limits.ts';

/** The HTTP servers of a kubelet: without credentials, and over TLS. */
export interface Ports {
  readonly readOnly: number;
  readonly secure: number;
}

/**
 * Starts the kubelet's HTTP servers in the network of the node. The secure one needs a certificate,
 * which Node.js cannot create: on a machine without openssl it does not start.
 */
export async function startServers(ports: Ports, answer: RequestListener): Promise<void> {
  await listening(createServer(answer), ports.readOnly);
  const certificate = await makeCertificate();
  if (certificate === undefined) return;
  await listening(
    createSecureServer({ key: certificate, cert: certificate }, answer),
    ports.secure,
  );
}

function listening(server: Server, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(port, '127.0.0.1', resolve);
  return promise;
}

/** A key and a self-signed certificate, as kubelets create them. */
async function makeCertificate(): Promise<string | undefined> {
  const program = systemProgram('openssl');
  if (program === undefined) return undefined;
  const created = await runProgram({
    program,
    arguments: [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...['-subj', '/CN=practice', '-keyout', '-', '-out', '-'],
    ],
    deadlineMs: CERTIFICATE_MS,
    outputBytesMax: CERTIFICATE_BYTES_MAX,
  });
  return created.ended === 'exit' && created.code === 0 ? created.stdout : undefined;
}
