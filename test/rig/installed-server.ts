import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findBinaries } from '../../tools/cluster/binaries.ts';
import { type ApiServer, startApiServer } from './api-server.ts';
import { type Ended, runProgram, startProgram } from './run-kubediag.ts';

const CONTROLLERS = [
  'clusterrole-aggregation-controller',
  'validatingadmissionpolicy-status-controller',
];
/** It ends with the suite. */
const CONTROLLERS_MS = 1_800_000;

/** An API server with kubectl, and those controllers of Kubernetes that roles and policies need. */
export interface InstalledServer {
  readonly api: ApiServer;
  kubectl(...args: readonly string[]): Promise<Ended>;
  /** In this order. */
  create(...objects: readonly object[]): Promise<void>;
  stop(): Promise<void>;
}

export async function startInstalledServer(): Promise<InstalledServer> {
  const binaries = await findBinaries();
  if ('missing' in binaries) throw new Error(binaries.missing);
  const scratch = await mkdtemp(join(tmpdir(), 'kubediag-installed-'));
  const api = await startApiServer();
  const kubeconfig = join(scratch, 'admin.json');
  await writeFile(kubeconfig, JSON.stringify(await administrator(api)));
  const words = [
    `--kubeconfig=${kubeconfig}`,
    `--controllers=${CONTROLLERS.join(',')}`,
    '--leader-elect=false',
    '--secure-port=0',
  ];
  const controllers = startProgram([binaries['kube-controller-manager'], ...words], {
    limitMs: CONTROLLERS_MS,
  });
  const kubectl = (...args: readonly string[]) =>
    runProgram([binaries.kubectl, ...args], {
      environment: { KUBECONFIG: kubeconfig, HOME: scratch },
    });
  return {
    api,
    kubectl,
    create: async (...objects) => {
      const file = join(scratch, 'objects.json');
      await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
      const { code, stderr } = await kubectl('create', `--filename=${file}`);
      if (code !== 0) throw new Error(stderr);
    },
    stop: async () => {
      controllers.child.kill('SIGKILL');
      await controllers.end;
      await api.stop();
      await rm(scratch, { recursive: true, force: true });
    },
  };
}

async function administrator({ server, certificates }: ApiServer): Promise<object> {
  const { authority, administrator: admin } = certificates;
  const text = async (path: string) => (await readFile(path)).toString('base64');
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'rig',
        cluster: { server, 'certificate-authority-data': await text(authority.certificate) },
      },
    ],
    users: [
      {
        name: 'admin',
        user: {
          'client-certificate-data': await text(admin.certificate),
          'client-key-data': await text(admin.key),
        },
      },
    ],
    contexts: [{ name: 'rig', context: { cluster: 'rig', user: 'admin' } }],
    'current-context': 'rig',
  };
}
