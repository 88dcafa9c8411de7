import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Judged, judgeFaults } from '../src/node/checkup/judge-faults.ts';
import { makeReport } from '../src/node/checkup/make-report.ts';
import { nodeFacts } from '../src/node/checkup/node-facts.ts';
import { settingsIn } from '../src/node/checkup/replay.ts';
import type { Report } from '../src/node/checkup/report.ts';
import { takeSnapshot } from '../src/node/checkup/take-snapshot.ts';
import { attempt, type Needs } from '../src/node/model/evidence.ts';
import type { AnyFault } from '../src/node/model/fault.ts';
import {
  type NodeReader,
  type QuestionKind,
  type ReadFailure,
  sourceOf,
} from '../src/node/model/node-reader.ts';
import type { Verdict } from '../src/node/model/verdict.ts';
import type { Bundle } from '../src/node/recording/bundle.ts';
import { RecordedNode } from '../src/node/recording/recorded-node.ts';
import { questionOf, type Recorded, type Recording } from '../src/node/recording/recording.ts';
import { reportSchema } from '../tools/report-schema.ts';
import { FailingNode } from './failing-node.ts';
import {
  descriptionOf,
  fixturesFolder,
  readRecording,
  recordingsOf,
  recordNode,
} from './fault-fixtures.ts';
import { goldenAnswer, messagesOf } from './golden-answer.ts';
import type { SyntheticNodes } from './synthetic-node.ts';

/** Ways in which a read can fail that say nothing about the node. */
const FAILURES: readonly ReadFailure[] = [
  ...(['timeout', 'not-asked', 'denied', 'failed', 'exited', 'malformed', 'too-large'] as const),
];

/** Reads without which a clear node stays clear, also when all of them fail at once. */
export interface OptionalReads {
  /** Matches kind and source of a read: "log /var/log/kubelet.log". */
  readonly reads: RegExp;
  readonly why: string;
  /** The fixtures for which it holds; all clear ones where it is absent. */
  readonly on?: readonly string[];
}

export interface FaultCases {
  readonly nodes: SyntheticNodes;
  readonly optionalReads?: readonly OptionalReads[];
}

const NAME_OF_NODE: OptionalReads = {
  reads: /^file \/proc\/sys\/kernel\/hostname$/,
  why: 'it only names the node',
};

/**
 * The tests every fault gets by having fixtures: the golden answers, the messages, and no `clear`
 * where a read has failed.
 */
export function describeFault(fault: AnyFault, { nodes, optionalReads = [] }: FaultCases): void {
  const names = [...Object.keys(nodes), ...recordingsOf(fault)].toSorted();
  const prepared = new Map<string, Promise<Prepared>>();
  const prepare = (name: string): Promise<Prepared> => {
    const maker = nodes[name];
    const fixture =
      prepared.get(name) ??
      prepareFixture(fault, maker ? recordNode(fault, maker) : readRecording(fault, name));
    prepared.set(name, fixture);
    return fixture;
  };

  const todos = todosOf(fault);

  describe(`${fault.id} on all fixtures`, () => {
    test('gives the golden answers', async () => {
      const answers: Record<string, unknown> = {};
      for (const name of names) answers[name] = goldenAnswer((await prepare(name)).judged);
      const golden = `${JSON.stringify(answers, null, 2)}\n`;
      if (todos.length > 0) return;
      await expect(golden).toMatchFileSnapshot(join(fixturesFolder(fault), 'golden.json'));
    });

    test('says each message as it is listed', async () => {
      const shownBy = new Map<string, string[]>();
      for (const name of names) {
        for (const message of messagesOf((await prepare(name)).judged)) {
          shownBy.set(message, [...(shownBy.get(message) ?? []), name]);
        }
      }
      const lines = [...shownBy]
        .toSorted(([left], [right]) => (left < right ? -1 : 1))
        .map(([message, by]) => `${message}\n    on ${by.join(' ')}\n`);
      if (todos.length > 0) return;
      const list = join(fixturesFolder(fault), 'messages.txt');
      await expect(lines.join('')).toMatchFileSnapshot(list);
    });

    test('has no TODO left', () => {
      expect(todos).toEqual([]);
    });

    test('has a fixture for each name in `on` of optionalReads', () => {
      const named = optionalReads.flatMap(({ on = [] }) => on);
      expect(named.filter((name) => !names.includes(name))).toEqual([]);
    });
  });

  describe.each(names)(`${fault.id} on %s`, (name) => {
    const optional = [NAME_OF_NODE, ...optionalReads].filter(
      ({ on }) => on?.includes(name) ?? true,
    );
    const areOptional = (keys: readonly string[], { deciding }: Prepared) =>
      keys.every((key) => !deciding.has(key)) ||
      optional.some((entry) =>
        keys.every((key) => !deciding.has(key) || entry.reads.test(readOf(key))),
      );

    test('is judged as the name of the fixture says', async () => {
      const { verdict } = (await prepare(name)).judged;
      const [, word = ''] = NAMED.exec(name) ?? [];
      const { state, alarm } = EXPECTED[word] ?? {};
      const why = verdict.unknowns.map((unknown) => unknown.why).join('\n');
      if (state) expect(verdict.state, why).toBe(state);
      if (alarm) expect(verdict.findings.map((finding) => finding.state)).toContain(alarm);
    });

    test('has an id of its own for each finding', async () => {
      const [{ findings } = { findings: [] }] = (await prepare(name)).report.faults;
      const shared = [...Map.groupBy(findings, ({ id }) => id)]
        .filter(([, sameId]) => sameId.length > 1)
        .map(([id, sameId]) => `${id}: ${sameId.map(({ reason }) => reason).join(', ')}`);
      const advice = 'give each of these findings other pins: the id is made of them';
      expect(shared, advice).toEqual([]);
    });

    test('has a report with the fields of the schema and no others', async () => {
      const report = JSON.parse(JSON.stringify((await prepare(name)).report));
      // Fields that the schema does not know would be missing from what it gives back.
      expect(reportSchema.parse(report)).toEqual(report);
    });

    test('has the same verdict on a version that was never tested', async () => {
      const { bundle, report } = await prepare(name);
      const newer = raisedVersion(bundle.recording);
      if (!newer) return;
      const recording = Promise.resolve({ ...bundle, recording: newer.recording });
      const [later] = (await prepareFixture(fault, recording)).report.faults;
      expect(withoutProof(later, newer)).toEqual(withoutProof(report.faults[0], newer));
      for (const { proof } of later?.findings ?? []) {
        for (const { claim } of proof.filter((one) => one.claim.includes(newer.raised))) {
          expect(claim).toMatch(/; last verified with (?:v1\.36|KubeEdge v1\.23\.1)$/);
        }
      }
    });

    // After SQLite's I/O error tests: fail the first read, then the second, until none is left.
    test.each(FAILURES)('is not clear when a required read fails with %s', async (failure) => {
      const fixture = await prepare(name);
      const { bundle, asked, judged } = fixture;
      const isClear = judged.verdict.state === 'clear';
      const clearWithout: string[] = [];
      const expected: string[] = [];
      const { clock, answers } = bundle.recording;
      for (const key of asked) {
        // A read that ends so on the node itself is no anomaly.
        if (failureOf(answers.get(key)) === failure) continue;
        const read = readOf(key);
        if (isClear && areOptional([key], fixture)) expected.push(read);
        const without = new Map(answers).set(key, { failure, detail: 'failed on purpose' });
        const node = new RecordedNode({ clock, answers: without });
        const { verdict } = (await judgeOn(fault, node, bundle)).judged;
        if (verdict.state === 'clear') clearWithout.push(read);
      }
      const unread = clearWithout.filter((read) => !expected.includes(read));
      const advice =
        'clear although this read failed; read it in the fault or list it in optionalReads';
      expect(clearWithout, unread.map((read) => `${read}: ${advice}`).join('\n')).toEqual(expected);
    });

    test('is not clear when all alternatives of a required source fail', async () => {
      const fixture = await prepare(name);
      const { bundle, asked, judged, deciding } = fixture;
      const entries = optional.map(({ reads }) => {
        const keys = new Set(asked.filter((key) => reads.test(readOf(key))));
        return (key: string) => keys.has(key);
      });
      const isNotDeciding = (key: string) => !deciding.has(key);
      for (const isOne of [...ALTERNATIVES, ...entries, isNotDeciding]) {
        if (!asked.some(isOne)) continue;
        const node = new FailingNode(replayed(bundle), isOne);
        const { verdict } = (await judgeOn(fault, node, bundle)).judged;
        const failed = [...new Set(node.asked.filter(isOne))];
        const isClear = judged.verdict.state === 'clear' && areOptional(failed, fixture);
        expect(verdict.state === 'clear', failed.map(readOf).join('\n')).toBe(isClear);
      }
    });
  });
}

/** The lines that `npm run new-fault` has left to the author. Until then no golden file is written. */
function todosOf(fault: AnyFault): readonly string[] {
  const folder = dirname(fixturesFolder(fault));
  const files = readdirSync(folder).map((name) => join(folder, name));
  return [...files, descriptionOf(fault)]
    .filter((path) => /\.(ts|md)$/.test(path))
    .flatMap((path) => {
      const lines = readFileSync(path, 'utf8').split('\n');
      const name = relative(process.cwd(), path);
      return lines.flatMap((line, at) =>
        line.includes('TODO') ? [`${name}:${at + 1}: ${line.trim()}`] : [],
      );
    });
}

/** A fixture with what the fault asks there, in order and once each, and what it says. */
interface Prepared {
  readonly bundle: Bundle;
  readonly asked: readonly string[];
  /** What it asks for evidence that can change its verdict; the rest only describes the node, or adds notes. */
  readonly deciding: ReadonlySet<string>;
  readonly judged: Judged;
  readonly report: Report;
}

async function prepareFixture(fault: AnyFault, reading: Promise<Bundle>): Promise<Prepared> {
  const bundle = await reading;
  const node = new FailingNode(replayed(bundle), () => false);
  const { judged, snapshot } = await judgeOn(fault, node, bundle);
  const asked = [...new Set(node.asked)];
  const report = makeReport({ ...(await nodeFacts(snapshot)), tookMs: 0 }, [judged]);
  return { bundle, asked, deciding: await decidingReads(fault, bundle), judged, report };
}

async function decidingReads({ needs }: AnyFault, bundle: Bundle): Promise<ReadonlySet<string>> {
  const node = new FailingNode(replayed(bundle), () => false);
  const snapshot = takeSnapshot(node, settingsIn(bundle));
  for (const need of Object.values(needs as Needs)) {
    if (!('optional' in need)) await attempt(snapshot.of(need));
    else if (!need.isSupplement) await attempt(snapshot.of(need.optional));
  }
  return new Set(node.asked);
}

const replayed = ({ recording }: Bundle) => new RecordedNode(recording);

async function judgeOn(fault: AnyFault, node: NodeReader, bundle: Bundle) {
  const snapshot = takeSnapshot(node, settingsIn(bundle));
  const [judged] = await judgeFaults([fault], snapshot);
  if (!judged) throw new Error('no verdict');
  return { judged, snapshot };
}

// active-hangs, look-alike-prefix, healthy
const NAMED = /^(active|broken|damaged|latent|benign|clear|healthy|look-alike|unclear)(?:-|$)/;

/** What the first word of a fixture's name says of it: a golden answer can be rewritten by mistake. */
const EXPECTED: Readonly<
  Record<string, { readonly state: Verdict['state']; readonly alarm?: string }>
> = {
  active: { state: 'found', alarm: 'active' },
  broken: { state: 'found', alarm: 'active' },
  damaged: { state: 'found', alarm: 'damaged' },
  latent: { state: 'found', alarm: 'latent' },
  benign: { state: 'clear', alarm: 'benign' },
  clear: { state: 'clear' },
  healthy: { state: 'clear' },
  'look-alike': { state: 'clear' },
  unclear: { state: 'unknown' },
};

interface NewerVersion {
  readonly version: string;
  readonly raised: string;
  readonly recording: Recording;
}

// git_version=\"v1.36.3\", gitVersion=\"v1.34.1\", Kubernetes v1.36.3, KubeEdge v1.13.0. No table changes after
// kubelet v1.30, nor for the fault of the one fixture of KubeEdge after that release.
const NEWEST_BEHAVIOUR = /(?<=git_?version=\\"|Kubernetes )v1\.3\d\.\d+|KubeEdge v1\.\d+\.\d+/i;

/** The same node with a version that is in no table, where it now behaves as the newest known one. */
function raisedVersion({ clock, answers }: Recording): NewerVersion | undefined {
  const texts = [...answers].map(([key, recorded]) => [key, JSON.stringify(recorded)] as const);
  const version = NEWEST_BEHAVIOUR.exec(texts.map(([, text]) => text).join('\n'))?.[0];
  if (version === undefined) return undefined;
  const raised = version.replace(/v1\.\d+/, 'v1.99');
  const read = (text: string) => JSON.parse(text.replaceAll(version, raised)) as Recorded;
  const later = new Map(texts.map(([key, text]) => [key, read(text)]));
  return { version, raised, recording: { clock, answers: later } };
}

/** All that a report says, whichever of the two versions it names, but for the words of its proof. */
function withoutProof(judged: Report['faults'][number] | undefined, newer: NewerVersion): string {
  const plain = JSON.stringify(
    { ...judged, findings: judged?.findings.map((one) => ({ ...one, proof: one.proof.length })) },
    null,
    2,
  );
  return plain.replaceAll(newer.raised, newer.version);
}

const isOf = (kind: QuestionKind) => (key: string) => key.startsWith(`["${kind}",`);

/** Sets of questions that can stand in for each other. */
const ALTERNATIVES: readonly ((key: string) => boolean)[] = [
  // The processes of the node, and what they are.
  (key) => pathOf(key) === '/proc',
  (key) => /^\/proc\/\d+\/comm$/.test(pathOf(key)),
  (key) => /^\/proc\/\d+\/(cmdline|status|cgroup|ns\/pid)$/.test(pathOf(key)),
  (key) => /^\/proc\/\d+\/mountinfo$/.test(pathOf(key)),
  ...(['runtime', 'tree', 'entries', 'threads', 'log', 'openFiles'] as const).map(isOf),
  // The version: reported by metrics, or by the program itself.
  (key) => isOf('version')(key) || key.includes('/metrics'),
  // The pods: listed by the kubelet, or by the runtime.
  (key) => key.includes('/pods"') || isOf('runtime')(key),
  () => true,
];

function pathOf(key: string): string {
  const { question } = questionOf(key);
  return 'path' in question ? question.path : '';
}

function failureOf(recorded: Recorded | undefined): ReadFailure | undefined {
  return recorded && 'failure' in recorded ? recorded.failure : undefined;
}

/** A read in words: its kind and its source. */
function readOf(key: string): string {
  const { kind, question } = questionOf(key);
  return `${kind} ${sourceOf(question)}${'verbose' in question ? ' verbose' : ''}`;
}
