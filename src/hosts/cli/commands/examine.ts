import { type GlobalOptions, type Terminal, UsageError } from '../../../lib/terminal/terminal.ts';
import { type Judged, judgeFaults } from '../../../node/checkup/judge-faults.ts';
import { makeReport } from '../../../node/checkup/make-report.ts';
import type { Examined, MissingReport, Report } from '../../../node/checkup/report.ts';
import { kubelet } from '../../../node/evidence/kubelet/kubelet.ts';
import { kubeletVersion } from '../../../node/evidence/kubelet/kubelet-version.ts';
import { mountTable } from '../../../node/evidence/mounts/mount-table.ts';
import { type CaseFile, caseFileOf, givenSnapshot } from '../../../node/examine/case-file.ts';
import { type Missing, missingOf } from '../../../node/examine/missing.ts';
import { faults } from '../../../node/faults/index.ts';
import { attempt, type Evidence, type Needs, type Snapshot } from '../../../node/model/evidence.ts';
import { verdictOf } from '../../../node/model/verdict.ts';
import type { ReportFormat } from '../command-line/shared-options.ts';
import { type ReadFiles, readGiven } from '../input/read-given.ts';
import { formatOf, showReport } from '../screens/show-report.ts';

export interface ExamineOptions extends GlobalOptions {
  readonly output?: ReportFormat;
}

export async function examine(
  paths: readonly string[],
  options: ExamineOptions,
  terminal: Terminal,
): Promise<number> {
  const begun = performance.now();
  const read = await readGiven(paths, terminal.hint);
  const [first] = read.unread;
  if (read.files.length === 0 && first) {
    throw new UsageError(`${first.name}: ${first.why}`);
  }
  const report = await examinedReport(read, begun);
  return showReport(report, formatOf(options), terminal);
}

export async function examinedReport(read: ReadFiles, begun: number): Promise<Report> {
  const file = await caseFileOf(read.files, new Date(), faults);
  const snapshot = givenSnapshot(file);
  const reported = faults.filter(
    ({ id, isCurrentState }) => !isCurrentState || file.suspicions.has(id),
  );
  const judged = await judgeFaults(reported, snapshot);
  const whole: Judged[] = [];
  const missing: MissingReport[] = [];
  for (const each of judged) {
    const lacks = await lacking(each, file, snapshot);
    const faultsOf = [each.fault.id];
    missing.push(...lacks.map(({ what, command }) => ({ what, command, faults: faultsOf })));
    whole.push(withUnknown(each, lacks, file));
  }
  const files = [
    ...file.files.map(({ name, detectedAs }) => ({ name, detectedAs })),
    ...read.unread.map(({ name, why }) => ({ name, detectedAs: [], failure: why })),
  ];
  const tookMs = Math.round(performance.now() - begun);
  const summary = { ...(await summaryOf(snapshot)), tookMs };
  const examinedPart: Examined = { files, missing: byCommand(missing) };
  return { ...makeReport(summary, whole), examined: examinedPart };
}

/** The evidence of a fault that is missing or incomplete. */
async function lacking(
  { fault }: Judged,
  { gaps, noted }: CaseFile,
  snapshot: Snapshot,
): Promise<readonly Missing[]> {
  const lacks: Missing[] = [];
  for (const need of Object.values(fault.needs as Needs)) {
    const evidence = ('optional' in need ? need.optional : need) as Evidence<unknown>;
    const collected = await attempt(snapshot.of(evidence));
    const gap = gaps.get(evidence);
    if (collected.known && gap === undefined) continue;
    const why = [gap, noted.of.get(evidence)].filter((one) => one !== undefined).join('; ');
    lacks.push(missingOf(evidence, why === '' ? undefined : why));
  }
  return lacks;
}

/** Without its evidence no fault is clear. The missing evidence is listed once, at the end. */
function withUnknown(
  { fault, verdict }: Judged,
  lacks: readonly Missing[],
  { suspicions, noted }: CaseFile,
): Judged {
  const suspicion = verdict.state === 'found' ? undefined : suspicions.get(fault.id);
  const own = verdict.unknowns.filter(
    ({ failure }) => failure !== 'not-recorded' || lacks.length === 0,
  );
  const names = lacks.map(({ short }) => short).join(', ');
  const all = [
    ...(suspicion === undefined ? [] : [{ why: suspicion }]),
    ...own,
    ...noted.general.map((note) => ({ why: `the collector noted: ${note}` })),
    ...(names === '' ? [] : [{ why: `not given: ${names}` }]),
  ];
  return { fault, verdict: verdictOf({ findings: verdict.findings, unknowns: all }) };
}

/** Each command once, with all faults that need it. */
function byCommand(missing: readonly MissingReport[]): readonly MissingReport[] {
  const grouped = Map.groupBy(missing, ({ command }) => command);
  return [...grouped].map(([command, all]) => ({
    what: [...new Set(all.map(({ what }) => what))].join(', '),
    command,
    faults: [...new Set(all.flatMap((each) => each.faults))],
  }));
}

async function summaryOf(snapshot: Snapshot): Promise<Omit<Report['node'], 'tookMs'>> {
  const { root } = await snapshot.of(kubelet);
  const [version, table] = await Promise.all([
    attempt(snapshot.of(kubeletVersion)),
    attempt(snapshot.of(mountTable)),
  ]);
  return {
    name: 'unknown',
    time: snapshot.node.now().toISOString(),
    kubelet: {
      presence: 'unknown',
      ...(version.known ? { version: version.value.text } : {}),
      root,
    },
    ...(table.known ? { mounts: table.value.mounts.length } : {}),
  };
}
