import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bundleFilesIn } from '../src/hosts/local-node/bundle-folder.ts';
import { checkUp } from '../src/node/checkup/judge-faults.ts';
import { makeReport } from '../src/node/checkup/make-report.ts';
import { nodeFacts } from '../src/node/checkup/node-facts.ts';
import { settingsIn } from '../src/node/checkup/replay.ts';
import type { Report } from '../src/node/checkup/report.ts';
import { takeSnapshot } from '../src/node/checkup/take-snapshot.ts';
import type { AnyFault } from '../src/node/model/fault.ts';
import type { NodeReader, ReadFailure } from '../src/node/model/node-reader.ts';
import type { Verdict } from '../src/node/model/verdict.ts';
import { bundleOfFiles } from '../src/node/recording/bundle.ts';
import { FailingNode } from '../src/node/recording/failing-node.ts';
import { RecordedNode } from '../src/node/recording/recorded-node.ts';
import { questionOf, type Recorded, type Recording } from '../src/node/recording/recording.ts';

const READS_MAX = 1000;
/** Ways in which a read can fail that say nothing about the node. */
const FAILURES: readonly ReadFailure[] = ['timeout', 'denied', 'failed', 'malformed', 'too-large'];

/** The tests every fault gets by having fixtures: the golden answer, and no false comfort. */
export function describeFault(fault: AnyFault, folder: string): void {
  const home = join(folder, 'fixtures');
  const names = readdirSync(home, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

  describe.each(names)(`${fault.id} on %s`, async (name) => {
    const bundle = await bundleOfFiles(bundleFilesIn(join(home, name)));
    const { recording } = bundle;
    const verdictOn = async (node: NodeReader): Promise<Verdict> => {
      const [judged] = await checkUp([fault], takeSnapshot(node, settingsIn(bundle)));
      if (!judged) throw new Error('no verdict');
      return judged.verdict;
    };

    const reportOn = async (node: NodeReader): Promise<Report> => {
      const snapshot = takeSnapshot(node, settingsIn(bundle));
      const judged = await checkUp([fault], snapshot);
      return makeReport({ ...(await nodeFacts(snapshot)), tookMs: 0 }, judged);
    };

    test('gives the golden answer', async () => {
      const { faults } = await reportOn(new RecordedNode(recording));
      const golden = `${JSON.stringify(faults[0], null, 2)}\n`;
      await expect(golden).toMatchFileSnapshot(join(home, `${name}.json`));
    });

    test.each(raisedVersions(recording))(
      'has the same verdict on $raised, which was never tested',
      async (newer) => {
        const [known] = (await reportOn(new RecordedNode(recording))).faults;
        const [later] = (await reportOn(new RecordedNode(newer.recording))).faults;
        expect(withoutProof(later, newer)).toEqual(withoutProof(known, newer));
        for (const { proof } of later?.findings ?? []) {
          for (const { claim } of proof.filter((one) => one.claim.includes(newer.raised))) {
            expect(claim).toMatch(/; last verified with (?:v1\.36|KubeEdge v1\.23\.1)$/);
          }
        }
      },
    );

    // After SQLite's I/O error tests: fail the first read, then the second, until none is left.
    test.each(FAILURES)(
      'never says clear when a read ends as %s and nothing stands in for it',
      async (failure) => {
        const baseline = await verdictOn(new RecordedNode(recording));
        for (let failAt = 1; failAt <= READS_MAX; failAt += 1) {
          const node = new FailingNode(
            new RecordedNode(recording),
            (_, count) => count === failAt,
            failure,
          );
          const verdict = await verdictOn(node);
          if (node.asked.length < failAt) return;
          // A read with an alternative may fail: then the answer must be the same, not a guess.
          if (verdict.state === 'clear') expect(gist(verdict)).toEqual(gist(baseline));
        }
        expect.unreachable(`${fault.id} asks the node more than ${READS_MAX} questions`);
      },
    );

    test('never says clear when all alternatives of a source fail', async () => {
      for (const alternatives of ALTERNATIVES) {
        const asked: string[] = [];
        const fails = (key: string) => {
          const isOne = alternatives(key);
          if (isOne) asked.push(key);
          return isOne;
        };
        const verdict = await verdictOn(new FailingNode(new RecordedNode(recording), fails));
        if (asked.length > 0) expect(verdict.state, asked.join(' ')).not.toBe('clear');
      }
    });
  });
}

/** What a verdict claims, without the words it uses for it. */
function gist({ state, findings }: Verdict) {
  // To miss something harmless is no false comfort.
  const alarms = findings.filter((finding) => finding.state !== 'benign');
  return { state, findings: alarms.map((finding) => [finding.state, finding.pins]) };
}

interface NewerVersion {
  readonly version: string;
  readonly raised: string;
  readonly recording: Recording;
}

// git_version=\"v1.36.3\", gitVersion=\"v1.34.1\", Kubernetes v1.36.3, KubeEdge v1.13.0. No table changes after
// kubelet v1.30, nor for the fault of the one fixture of KubeEdge after that release.
const NEWEST_BEHAVIOUR = /(?<=git_?version=\\"|Kubernetes )v1\.3\d\.\d+|KubeEdge v1\.\d+\.\d+/i;

/** The same node with a version that is in no table, where it now behaves as the newest known one. */
function raisedVersions({ clock, answers }: Recording): readonly NewerVersion[] {
  const texts = [...answers].map(([key, recorded]) => [key, JSON.stringify(recorded)] as const);
  const version = NEWEST_BEHAVIOUR.exec(texts.map(([, text]) => text).join('\n'))?.[0];
  if (version === undefined) return [];
  const raised = version.replace(/v1\.\d+/, 'v1.99');
  const read = (text: string) => JSON.parse(text.replaceAll(version, raised)) as Recorded;
  const later = new Map(texts.map(([key, text]) => [key, read(text)]));
  return [{ version, raised, recording: { clock, answers: later } }];
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

/** Sets of questions that can stand in for each other. */
const ALTERNATIVES: readonly ((key: string) => boolean)[] = [
  // The processes of the node, and what they are.
  (key) => pathOf(key) === '/proc',
  (key) => /^\/proc\/\d+\/comm$/.test(pathOf(key)),
  (key) => /^\/proc\/\d+\/(cmdline|status|cgroup|ns\/pid)$/.test(pathOf(key)),
  (key) => /^\/proc\/\d+\/mountinfo$/.test(pathOf(key)),
  (key) => questionOf(key).kind === 'runtime',
  // The version: from metrics, or from the program itself.
  (key) => questionOf(key).kind === 'version' || key.includes('/metrics'),
  // The pods: from the kubelet, or from the runtime.
  (key) => key.includes('/pods"') || questionOf(key).kind === 'runtime',
  () => true,
];

function pathOf(key: string): string {
  const { question } = questionOf(key);
  return 'path' in question ? question.path : '';
}
