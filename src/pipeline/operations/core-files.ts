import { takeSnapshot } from '../../node/checkup/take-snapshot.ts';
import { attempt, type Snapshot } from '../../node/model/evidence.ts';
import { ReadError } from '../../node/model/node-reader.ts';
import { failedWith, needed, refusedWith, type StepInput } from '../steps/operation-result.ts';
import { CORE_FILES_LISTED_MAX, CORE_NAMES_MAX } from './limits.ts';
import { podBegan } from './pod-scope.ts';
import type { OwnProcessor } from './processor-host.ts';

const ASKED = 'param.diagnoser.runtime.core_file_profiler';
const ENDPOINT = 'diagnoser.runtime.core_file_profiler.result.endpoint';

/** Where those of pods lie that KubeDiag's own handler of core files has sorted. */
const OF_PODS = '/var/lib/kubediag/corefile/kubernetes';

/** Where core files are on usual nodes. No other place is read. */
const CORE_FOLDERS = ['/var/lib/kubediag/corefile', '/var/lib/systemd/coredump', '/var/crash'];

export const coreFileProfiler: OwnProcessor = {
  path: '/processor/coreFileProfiler',
  operation: 'core-file-profiler',
  does: 'lists the core files, without opening them',
  details:
    '`type` is coredump; gcore is refused, because it stops the process. `filepath` may be a directory ' +
    `at or below ${CORE_FOLDERS.join(', ')}. By default all of these are listed, or that of the ` +
    'container below the first. The endpoint is JSON: path, size and time of each file, newest first.',
  reads: [`${ASKED}.type`],
  mayRead: [`${ASKED}.filepath`, 'pod.namespace', 'pod.name', 'container'],
  unused: {
    [`${ASKED}.expiration_seconds`]: 'no server is started',
    [`${ASKED}.pid`]: 'no core file is created from a process',
  },
  writes: [ENDPOINT],
  repairs: false,
  forPod: 'limited',
  /**
   * Lists the core files: path, size, age. It opens none of them, serves none and
   * changes nothing on the node: a core file is the memory of a process, with every secret in it.
   */
  async run(input, { node, settings, scope }) {
    const { [`${ASKED}.type`]: type, [`${ASKED}.filepath`]: filepath } = input;
    if (!type) return failedWith(needed(`${ASKED}.type`, 'set it to coredump'));
    if (type === 'gcore') {
      const why = 'to make a core file stops the process and reads all of its memory';
      return refusedWith(`${why}; a person may: gcore PID on the node, or kubectl debug`);
    }
    if (type !== 'coredump') return failedWith(`${ASKED}.type is neither coredump nor gcore`);
    const folders = foldersFor(input, filepath);
    if ('refused' in folders) return refusedWith(folders.refused);
    const here = takeSnapshot(node, settings);
    const ofPod = scope && `${OF_PODS}/${scope.namespace}/${scope.name}`;
    if (ofPod && !folders.all.every((folder) => `${folder}/`.startsWith(`${ofPod}/`))) {
      return refusedWith(`${ASKED}.filepath is not below ${ofPod}`);
    }
    // An earlier pod of this name had the same directory.
    const since = scope ? await attempt(podBegan(here, scope)) : undefined;
    if (since && !since.known) return failedWith(since.why);
    const listed = await attempt(
      Promise.all(folders.all.map((folder) => coresIn(here, folder, folders.all.length > 1))),
    );
    if (!listed.known) return failedWith(listed.why);
    const files = listed.value
      .flat()
      .filter(({ modified }) => !since || modified >= since.value)
      .toSorted((one, other) => (one.modified < other.modified ? 1 : -1));
    if (files.length === 0) return failedWith(`there is no core file in ${folders.all.join(', ')}`);
    const left = files.length - CORE_FILES_LISTED_MAX;
    const answer = {
      files: files.slice(0, CORE_FILES_LISTED_MAX),
      ...(left > 0 ? { notListed: left } : {}),
    };
    return { succeeded: true, results: { [ENDPOINT]: JSON.stringify(answer) } };
  },
};

type Folders = { readonly all: readonly string[] } | { readonly refused: string };

function foldersFor(input: StepInput, filepath: string | undefined): Folders {
  const { 'pod.namespace': namespace, 'pod.name': name, container } = input;
  if (filepath) {
    const isInside = CORE_FOLDERS.some(
      (home) => filepath === home || filepath.startsWith(`${home}/`),
    );
    if (isInside && isPlain(filepath)) return { all: [filepath] };
    return { refused: `${ASKED}.filepath is not below ${CORE_FOLDERS.join(', ')}` };
  }
  if (!namespace || !name) return { all: CORE_FOLDERS };
  if (!container) return { refused: 'no container is named: give it in podReference.container' };
  const folder = `${OF_PODS}/${namespace}/${name}/${container}`;
  return isPlain(folder) ? { all: [folder] } : { refused: 'the pod has no usual name' };
}

function isPlain(path: string): boolean {
  const parts = path.slice(1).split('/');
  return !path.includes('\0') && parts.every((part) => !/^[.]{0,2}$/.test(part));
}

async function coresIn(snapshot: Snapshot, folder: string, mayBeMissing: boolean) {
  const names = await attempt(namesIn(snapshot, folder));
  if (!names.known) {
    if (mayBeMissing && names.error.failure === 'missing') return [];
    throw names.error;
  }
  const entries = await snapshot.node.ask('entries', { path: folder, names: names.value });
  return entries.flatMap(({ name, status }) => {
    if (status?.type !== 'file') return [];
    const modified = new Date(status.modifiedMs).toISOString();
    return [{ path: `${folder}/${name}`, sizeBytes: status.sizeBytes, modified }];
  });
}

async function namesIn(snapshot: Snapshot, folder: string): Promise<readonly string[]> {
  await requireNoLink(snapshot, folder);
  const names = await snapshot.node.ask('folder', { path: folder });
  if (names.length <= CORE_NAMES_MAX) return names;
  throw new ReadError('too-large', folder, `more than ${CORE_NAMES_MAX} entries`);
}

/** Anybody may write to /var/crash: a link from there would lead to the names of another directory. */
async function requireNoLink({ node }: Snapshot, folder: string): Promise<void> {
  const home = CORE_FOLDERS.find((each) => `${folder}/`.startsWith(`${each}/`)) ?? '';
  const parts = folder.slice(home.length).split('/').filter(Boolean);
  for (let count = 0; count <= parts.length; count += 1) {
    const path = [home, ...parts.slice(0, count)].join('/');
    const { type } = await node.ask('status', { path });
    if (type !== 'folder') throw new ReadError('failed', path, `it is a ${type}, no directory`);
  }
}
