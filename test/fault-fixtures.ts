import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bundleFilesIn } from '../src/hosts/local-node/bundle-folder.ts';
import { collect, judgeFaults } from '../src/node/checkup/judge-faults.ts';
import { nodeFacts } from '../src/node/checkup/node-facts.ts';
import { replayCheck, settingsIn } from '../src/node/checkup/replay.ts';
import type { FaultReport } from '../src/node/checkup/report.ts';
import { takeSnapshot } from '../src/node/checkup/take-snapshot.ts';
import { faults } from '../src/node/faults/index.ts';
import type { Snapshot } from '../src/node/model/evidence.ts';
import type { AnyFault } from '../src/node/model/fault.ts';
import { type Bundle, bundleOfFiles, filesOfBundle } from '../src/node/recording/bundle.ts';
import { RecordedNode, RecordingNode } from '../src/node/recording/recorded-node.ts';
import type { NodeMaker, SyntheticNodes } from './synthetic-node.ts';

const FAULTS = join(import.meta.dirname, '../src/node/faults');

/** The directory with golden answers, messages and recordings of real nodes. */
export function fixturesFolder({ id }: { readonly id: string }): string {
  return join(FAULTS, id, 'fixtures');
}

/** The names of the real nodes that were recorded for a fault. */
export function recordingsOf(fault: { readonly id: string }): readonly string[] {
  const folder = fixturesFolder(fault);
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted();
}

export function readRecording(fault: { readonly id: string }, name: string): Promise<Bundle> {
  return bundleOfFiles(bundleFilesIn(join(fixturesFolder(fault), name)));
}

/**
 * A synthetic node with the answers to what this fault asks and to nothing else, as a check would
 * have recorded it. It is written and read once, so that a test judges what a replay would.
 */
export async function recordNode(fault: AnyFault, maker: NodeMaker): Promise<Bundle> {
  const recorder = new RecordingNode(maker.build());
  const snapshot = takeSnapshot(recorder, maker.settings);
  await judgeFaults([fault], snapshot);
  await nodeFacts(snapshot);
  const { recording } = recorder;
  const settings = { ...maker.settings };
  return bundleOfFiles(
    await filesOfBundle({ recording, madeBy: 'synthetic', tookMs: 12, settings }),
  );
}

/** What this fault reports on one of its fixtures, or on a node that its test describes. */
export async function answerOn(
  fault: AnyFault,
  node: string | NodeMaker | Bundle,
): Promise<FaultReport> {
  const bundle = await bundleOf(fault, node);
  const [answer] = (await replayCheck(bundle, [fault], undefined)).faults;
  if (!answer) throw new Error(`no answer of ${fault.id}`);
  return answer;
}

/** Whether the first finding on one node counts as healed when a later check sees the other node. */
export async function healedOn(
  fault: AnyFault,
  before: string | NodeMaker,
  after: string | NodeMaker,
): Promise<boolean> {
  const [judged] = await judgeFaults([fault], snapshotOf(await bundleOf(fault, before)));
  const finding = judged?.verdict.findings.find(({ state }) => state !== 'benign');
  if (!finding || !fault.hasHealed) throw new Error(`${fault.id}: nothing to heal`);
  const evidence = await collect(fault.needs, snapshotOf(await bundleOf(fault, after)));
  return fault.hasHealed(finding, evidence);
}

function snapshotOf(bundle: Bundle): Snapshot {
  return takeSnapshot(new RecordedNode(bundle.recording), settingsIn(bundle));
}

function bundleOf(fault: AnyFault, node: string | NodeMaker | Bundle): Bundle | Promise<Bundle> {
  if (typeof node === 'string') return fixtureAt(`${fault.id}/${node}`);
  return 'recording' in node ? node : recordNode(fault, node);
}

/** A fixture by its path: "stale-subpath-mount/broken-configmap". */
export async function fixtureAt(path: string): Promise<Bundle> {
  const [id = '', name = ''] = path.split('/');
  const fault = faults.find((each) => each.id === id);
  if (!fault) throw new Error(`${path}: there is no such fault`);
  if (recordingsOf(fault).includes(name)) return readRecording(fault, name);
  const maker = (await nodesOf(id))[name];
  if (!maker) throw new Error(`${path}: there is no such fixture`);
  return recordNode(fault, maker);
}

/** The paths of all fixtures. */
export async function fixturePaths(): Promise<readonly string[]> {
  const paths = faults.map(async (fault) => {
    const names = [...Object.keys(await nodesOf(fault.id)), ...recordingsOf(fault)];
    return names.toSorted().map((name) => `${fault.id}/${name}`);
  });
  return (await Promise.all(paths)).flat();
}

/** The file that describes the synthetic nodes of a fault. */
export function descriptionOf({ id }: { readonly id: string }): string {
  return join(import.meta.dirname, 'faults', `${id}.ts`);
}

async function nodesOf(id: string): Promise<SyntheticNodes> {
  const description = (await import(`./faults/${id}.ts`)) as { nodes: () => SyntheticNodes };
  return description.nodes();
}

/** Writes a fixture below a directory, for `kubediag replay`, and gives its path. */
export async function writeFixture(path: string, below: string): Promise<string> {
  const folder = join(below, path);
  for (const [file, content] of await filesOfBundle(await fixtureAt(path))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), content);
  }
  return folder;
}
