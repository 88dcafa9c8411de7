import { globSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { fieldAt, listAt, textAt } from '../../src/lib/std/json.ts';
import { API_VERSION } from '../../src/pipeline/api/kinds.ts';
import type { KubeCredentials } from '../../src/pipeline/kube/kube-access.ts';
import { type KubeClient, openKubeClient } from '../../src/pipeline/kube/kube-client.ts';
import { answerOf } from '../../src/pipeline/store/store-answer.ts';
import { findBinaries } from '../../tools/cluster/binaries.ts';
import { type Certificates, makeCertificates } from '../../tools/cluster/certificates.ts';
import { nodePackages } from '../../tools/cluster/node-packages.ts';
import { Part } from '../../tools/cluster/part.ts';
import { unpackedPackages } from '../../tools/debian-packages.ts';
import { compact, defragment, etcdPlan } from './etcd.ts';
import { makePrivateNamespaces, type PrivateNamespaces } from './private-namespaces.ts';

const READY_MS = 120_000;
const CHECK_INTERVAL_MS = 50;
const CRDS = join(import.meta.dirname, '../../deploy/crds');
const NAMESPACES = ['default', 'other'];

/** etcd and a kube-apiserver with our CRDs, without any node. */
export interface ApiServer {
  /** "https://127.0.0.1:38211", for this machine. */
  readonly server: string;
  /** Of an administrator. */
  readonly credentials: KubeCredentials;
  readonly client: KubeClient;
  readonly certificates: Certificates;
  readonly etcd: Part;
  readonly part: Part;
  /** The Unix socket that leads to the API server. */
  readonly socket: string;
  /** Settings for a child process whose clock is off, such as "-1h". */
  readonly clock: (offset: string) => Readonly<Record<string, string>>;
  /** Until the API server answers, after it was stopped and started. */
  ready(): Promise<void>;
  /** Deletes all objects of our kinds, those with finalizers too. */
  clear(): Promise<void>;
  /** Makes etcd drop all versions before the current one. */
  compact(): Promise<void>;
  /** Makes etcd return free space to the file system, and accept writes again if it was full. */
  defragment(): Promise<void>;
  /** Leaves no process and no file. */
  stop(): Promise<void>;
}

interface ApiServerOptions {
  /** Of tools/cluster/kubernetes-recipes.ts; the current one when absent. */
  readonly version?: string;
  /** More arguments of etcd, such as "--quota-backend-bytes=16777216". */
  readonly etcdArguments?: readonly string[];
}

/** Starts an API server in private namespaces. It ends with this process, too. */
export async function startApiServer({
  version,
  etcdArguments = [],
}: ApiServerOptions = {}): Promise<ApiServer> {
  const [binaries, packages, faketime] = await Promise.all([
    findBinaries({ apiServer: version }),
    nodePackages(),
    unpackedPackages(['libfaketime']),
  ]);
  if ('missing' in binaries) throw new Error(binaries.missing);
  if ('missing' in packages) throw new Error(packages.missing);
  if ('missing' in faketime) throw new Error(faketime.missing);
  const [library] = globSync('usr/lib/*/faketime/libfaketime.so.1', { cwd: faketime.root });
  if (library === undefined) throw new Error('libfaketime.so.1 is not in its package');
  const clock = (offset: string) => ({
    LD_PRELOAD: join(faketime.root, library),
    FAKETIME: offset,
    // Timers go on as usual.
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  });
  const scratch = await mkdtemp(join(tmpdir(), 'kubediag-api-'));
  const namespaces = await makePrivateNamespaces({ also: ['net'] });
  const clean = async () => {
    await namespaces.stop();
    await rm(scratch, { recursive: true, force: true });
  };
  try {
    await mkdir(join(scratch, 'certificates'));
    // Valid for a client whose clock is behind.
    const environment = { ...packages.environment, ...clock('-1d') };
    const issuing = { ...packages, environment };
    const certificates = await makeCertificates(join(scratch, 'certificates'), [], issuing);
    const place = { enter: namespaces.enter, environment: process.env, folder: scratch };
    const etcd = new Part(etcdPlan(packages.root, scratch, etcdArguments), place);
    const part = new Part(apiServerPlan(binaries['kube-apiserver'], certificates), place);
    const sockets = { api: join(scratch, 'api.sock'), etcd: join(scratch, 'etcd.sock') };
    const relay = new Part(
      {
        name: 'relay',
        program: process.execPath,
        words: [
          join(import.meta.dirname, 'api-server-relay.ts'),
          ...[sockets.api, '6443', sockets.etcd, '2379'],
        ],
      },
      place,
    );
    await loopbackUp(namespaces, packages.environment);
    await Promise.all([etcd.start(), part.start(), relay.start()]);
    const port = await listenFor(sockets.api);
    return await readyServer({ port, sockets, certificates, etcd, part, clock, clean });
  } catch (error) {
    await clean();
    throw error;
  }
}

function apiServerPlan(program: string, certificates: Certificates) {
  const { authority, apiServer, serviceAccounts } = certificates;
  return {
    name: 'kube-apiserver',
    program,
    words: [
      '--etcd-servers=http://127.0.0.1:2379',
      '--bind-address=127.0.0.1',
      '--advertise-address=127.0.0.1',
      '--endpoint-reconciler-type=none',
      '--secure-port=6443',
      '--service-cluster-ip-range=10.96.0.0/16',
      `--tls-cert-file=${apiServer.certificate}`,
      `--tls-private-key-file=${apiServer.key}`,
      `--client-ca-file=${authority.certificate}`,
      '--authorization-mode=RBAC',
      '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
      `--service-account-key-file=${serviceAccounts.publicKey}`,
      `--service-account-signing-key-file=${serviceAccounts.key}`,
    ],
  };
}

async function loopbackUp(namespaces: PrivateNamespaces, environment: object): Promise<void> {
  const settings = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  await namespaces.run('env', ...settings, 'ip', 'link', 'set', 'lo', 'up');
}

/** Connects a port of this machine's loopback address with a Unix socket. */
async function listenFor(path: string): Promise<{ number: number; close: () => void }> {
  const open = new Set<Socket>();
  const server: Server = createServer((near) => {
    const far = connect(path);
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        open.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.close();
    for (const socket of open) socket.destroy();
  };
  return { number: (server.address() as { readonly port: number }).port, close };
}

async function readyServer(given: {
  readonly port: { readonly number: number; readonly close: () => void };
  readonly sockets: { readonly api: string; readonly etcd: string };
  readonly certificates: Certificates;
  readonly etcd: Part;
  readonly part: Part;
  readonly clock: ApiServer['clock'];
  readonly clean: () => Promise<void>;
}): Promise<ApiServer> {
  const { port, sockets, certificates, etcd, part, clock, clean } = given;
  const { authority, administrator } = certificates;
  const [ca, cert, key] = await Promise.all(
    [authority.certificate, administrator.certificate, administrator.key].map((path) =>
      readFile(path, 'utf8'),
    ),
  );
  const credentials = { ca, cert, key };
  const server = `https://127.0.0.1:${port.number}`;
  const client = openKubeClient({ server, credentials: async () => credentials });
  const answers = (path: string) =>
    until([etcd, part], `${path} is served`, async () => {
      return (await answerOf(client.request({ method: 'GET', path }))).ok;
    });
  await answers('/api/v1/namespaces/default');
  await Promise.all([
    ...NAMESPACES.slice(1).map((name) =>
      client.request({
        method: 'POST',
        path: '/api/v1/namespaces',
        body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
      }),
    ),
    createCrds(client, answers),
  ]);
  return {
    server,
    credentials,
    client,
    certificates,
    etcd,
    part,
    socket: sockets.api,
    clock,
    ready: () => answers(`/apis/${API_VERSION}/diagnoses`),
    clear: () => clearKinds(client),
    compact: () => compact(client, sockets.etcd),
    defragment: () => defragment(sockets.etcd),
    stop: async () => {
      client.close();
      port.close();
      await clean();
    },
  };
}

const CRD_PATH = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

async function createCrds(
  client: KubeClient,
  answers: (path: string) => Promise<void>,
): Promise<void> {
  const files = await readdir(CRDS);
  await Promise.all(
    files.map(async (file) => {
      const body = parse(await readFile(join(CRDS, file), 'utf8')) as unknown;
      await client.request({ method: 'POST', path: CRD_PATH, body });
      await answers(`/apis/${API_VERSION}/${textAt(body, 'spec', 'names', 'plural')}`);
    }),
  );
}

/** Deletes all objects of our kinds, also from another process than that of the server. */
export async function clearKinds(client: KubeClient): Promise<void> {
  const crds = await client.request({ method: 'GET', path: CRD_PATH });
  for (const crd of listAt(crds, 'items') ?? []) {
    const plural = textAt(crd, 'spec', 'names', 'plural');
    const isNamespaced = fieldAt(crd, 'spec', 'scope') === 'Namespaced';
    const places = isNamespaced ? NAMESPACES.map((name) => `namespaces/${name}/`) : [''];
    for (const place of places) {
      const path = `/apis/${API_VERSION}/${place}${plural}`;
      await client.request({ method: 'DELETE', path });
      const left = await client.request({ method: 'GET', path });
      for (const object of listAt(left, 'items') ?? []) {
        await client.request({
          method: 'PATCH',
          path: `${path}/${textAt(object, 'metadata', 'name')}`,
          contentType: 'application/merge-patch+json',
          body: { metadata: { finalizers: null } },
        });
      }
    }
  }
}

async function until(
  parts: readonly Part[],
  what: string,
  condition: () => Promise<boolean>,
): Promise<void> {
  const deadline = Date.now() + READY_MS;
  while (!(await condition())) {
    const failed = parts.find((part) => part.hasFailed());
    if (failed) throw new Error(`${failed.name} ended: ${await failed.lastLines()}`);
    if (Date.now() > deadline) throw new Error(`waited ${READY_MS / 1000} s in vain until ${what}`);
    await sleep(CHECK_INTERVAL_MS);
  }
}
