import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkUp } from '../src/node/checkup/judge-faults.ts';
import { makeReport } from '../src/node/checkup/make-report.ts';
import { nodeFacts } from '../src/node/checkup/node-facts.ts';
import { settingsIn } from '../src/node/checkup/replay.ts';
import type { Report } from '../src/node/checkup/report.ts';
import { takeSnapshot } from '../src/node/checkup/take-snapshot.ts';
import type { AnyFault } from '../src/node/model/fault.ts';
import { type NodeReader, type ReadFailure, sourceOf } from '../src/node/model/node-reader.ts';
import type { Verdict } from '../src/node/model/verdict.ts';
import type { Bundle } from '../src/node/recording/bundle.ts';
import { FailingNode } from '../src/node/recording/failing-node.ts';
import { RecordedNode } from '../src/node/recording/recorded-node.ts';
import { questionOf, type Recorded, type Recording } from '../src/node/recording/recording.ts';
import { reportSchema } from '../tools/report-schema.ts';
import { fixturesFolder, readRecording, recordingsOf, recordNode } from './fault-fixtures.ts';
import { goldenAnswer, messagesOf } from './golden-answer.ts';
import type { SyntheticNodes } from './synthetic-node.ts';

/** Ways in which a read can fail that say nothing about the node. */
const FAILURES: readonly ReadFailure[] = ['timeout', 'denied', 'failed', 'malformed', 'too-large'];

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
  const recordings = recordingsOf(fault);
  const names = [...Object.keys(nodes), ...recordings].toSorted();
  const bundles = new Map<string, Promise<Bundle>>();
  const bundleOf = (name: string): Promise<Bundle> => {
    const maker = nodes[name];
    const bundle =
      bundles.get(name) ?? (maker ? recordNode(fault, maker) : readRecording(fault, name));
    bundles.set(name, bundle);
    return bundle;
  };
  const judgedOn = async (node: NodeReader, bundle: Bundle) => {
    const snapshot = takeSnapshot(node, settingsIn(bundle));
    const [judged] = await checkUp([fault], snapshot);
    if (!judged) throw new Error('no verdict');
    return { judged, snapshot };
  };
  const verdictOn = async (node: NodeReader, bundle: Bundle): Promise<Verdict> =>
    (await judgedOn(node, bundle)).judged.verdict;
  const reportOn = async (node: NodeReader, bundle: Bundle): Promise<Report> => {
    const { judged, snapshot } = await judgedOn(node, bundle);
    return makeReport({ ...(await nodeFacts(snapshot)), tookMs: 0 }, [judged]);
  };

  describe(`${fault.id} on all fixtures`, () => {
    test('gives the golden answers', async () => {
      const answers: Record<string, unknown> = {};
      for (const name of names) {
        const bundle = await bundleOf(name);
        const { judged } = await judgedOn(new RecordedNode(bundle.recording), bundle);
        answers[name] = goldenAnswer(judged);
      }
      const golden = `${JSON.stringify(answers, null, 2)}\n`;
      await expect(golden).toMatchFileSnapshot(join(fixturesFolder(fault), 'golden.json'));
    });

    test('says each message as it is listed', async () => {
      const shownBy = new Map<string, string[]>();
      for (const name of names) {
        const bundle = await bundleOf(name);
        const { judged } = await judgedOn(new RecordedNode(bundle.recording), bundle);
        for (const message of messagesOf(judged)) {
          shownBy.set(message, [...(shownBy.get(message) ?? []), name]);
        }
      }
      const lines = [...shownBy]
        .toSorted(([left], [right]) => (left < right ? -1 : 1))
        .map(([message, by]) => `${message}\n    on ${by.join(' ')}\n`);
      const list = join(fixturesFolder(fault), 'messages.txt');
      await expect(lines.join('')).toMatchFileSnapshot(list);
    });

    test('names its optional reads of fixtures that exist', () => {
      const named = optionalReads.flatMap(({ on = [] }) => on);
      expect(named.filter((name) => !names.includes(name))).toEqual([]);
    });
  });

  describe.each(names)(`${fault.id} on %s`, (name) => {
    const optional = [NAME_OF_NODE, ...optionalReads].filter(
      ({ on }) => on?.includes(name) ?? true,
    );

    test('is judged as the name of the fixture says', async () => {
      const bundle = await bundleOf(name);
      const verdict = await verdictOn(new RecordedNode(bundle.recording), bundle);
      const [, word = ''] = NAMED.exec(name) ?? [];
      const { state, alarm } = EXPECTED[word] ?? {};
      if (state) expect(verdict.state).toBe(state);
      if (alarm) expect(verdict.findings.map((finding) => finding.state)).toContain(alarm);
    });

    test('has a report that is as the schema says, and holds nothing else', async () => {
      const bundle = await bundleOf(name);
      const report = JSON.parse(
        JSON.stringify(await reportOn(new RecordedNode(bundle.recording), bundle)),
      );
      // Fields that the schema does not know would be missing from what it gives back.
      expect(reportSchema.parse(report)).toEqual(report);
    });

    test('keeps its verdict on a version that nobody has tried', async () => {
      const bundle = await bundleOf(name);
      const newer = raisedVersion(bundle.recording);
      if (!newer) return;
      const [known] = (await reportOn(new RecordedNode(bundle.recording), bundle)).faults;
      const [later] = (await reportOn(new RecordedNode(newer.recording), bundle)).faults;
      expect(withoutProof(later, newer)).toEqual(withoutProof(known, newer));
      for (const { proof } of later?.findings ?? []) {
        for (const { claim } of proof.filter((one) => one.claim.includes(newer.raised))) {
          expect(claim).toMatch(/; last verified with (?:v1\.36|KubeEdge v1\.23\.1)$/);
        }
      }
    });

    // After SQLite's I/O error tests: fail the first read, then the second, until none is left.
    test.each(FAILURES)(
      'is clear only without optional reads when one ends as %s',
      async (failure) => {
        const bundle = await bundleOf(name);
        const intact = new FailingNode(new RecordedNode(bundle.recording), () => false);
        const { state } = await verdictOn(intact, bundle);
        // A read that ends so on the node itself is no anomaly.
        const { answers } = bundle.recording;
        const isNew = (key: string) => failureOf(answers.get(key)) !== failure;
        const asked = [...new Set(intact.asked)].filter(isNew);
        const clearWithout: string[] = [];
        for (const key of asked) {
          const fails = (each: string) => each === key;
          const node = new FailingNode(new RecordedNode(bundle.recording), fails, failure);
          if ((await verdictOn(node, bundle)).state === 'clear') clearWithout.push(readOf(key));
        }
        const isOptional = (read: string) => optional.some(({ reads }) => reads.test(read));
        expect(clearWithout).toEqual(state === 'clear' ? asked.map(readOf).filter(isOptional) : []);
      },
    );

    test('is clear only without optional reads when all alternatives of a source fail', async () => {
      const bundle = await bundleOf(name);
      const { state } = await verdictOn(new RecordedNode(bundle.recording), bundle);
      const named = optional.map(
        ({ reads }) =>
          (key: string) =>
            reads.test(readOf(key)),
      );
      for (const isOne of [...ALTERNATIVES, ...named]) {
        const node = new FailingNode(new RecordedNode(bundle.recording), isOne);
        const verdict = await verdictOn(node, bundle);
        const failed = [...new Set(node.asked.filter(isOne))].map(readOf);
        const isOptional = optional.some(({ reads }) => failed.every((read) => reads.test(read)));
        const isClear = state === 'clear' && isOptional;
        expect(verdict.state === 'clear', failed.join('\n')).toBe(isClear);
      }
    });
  });
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

const kindOf = (key: string) => questionOf(key).kind;

/** Sets of questions that can stand in for each other. */
const ALTERNATIVES: readonly ((key: string) => boolean)[] = [
  // The processes of the node, and what they are.
  (key) => pathOf(key) === '/proc',
  (key) => /^\/proc\/\d+\/comm$/.test(pathOf(key)),
  (key) => /^\/proc\/\d+\/(cmdline|status|cgroup|ns\/pid)$/.test(pathOf(key)),
  (key) => /^\/proc\/\d+\/mountinfo$/.test(pathOf(key)),
  ...(['runtime', 'tree', 'entries', 'threads', 'log', 'openFiles'] as const).map(
    (kind) => (key: string) => kindOf(key) === kind,
  ),
  // The version: reported by metrics, or by the program itself.
  (key) => kindOf(key) === 'version' || key.includes('/metrics'),
  // The pods: listed by the kubelet, or by the runtime.
  (key) => key.includes('/pods"') || kindOf(key) === 'runtime',
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
