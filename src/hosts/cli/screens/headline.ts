import { geteuid } from 'node:process';
import { counted } from '../../../lib/std/counted.ts';
import type { Style } from '../../../lib/terminal/terminal.ts';
import type { FaultReport, Report } from '../../../node/checkup/report.ts';

/** A report as a person reads it. */
export interface ShownReport extends Report {
  /** The user is not root, and reads were denied. */
  readonly isDenied?: boolean;
}

interface Headline {
  readonly text: string;
  readonly tone: Style;
}

/**
 * The result of a check in one sentence, the worst first:
 * "2 faults, 43 findings: leftover-volume-directory 42, orphaned-volume-metadata 1".
 */
export function headlineOf({
  faults,
  isDenied = false,
}: Pick<ShownReport, 'faults' | 'isDenied'>): Headline {
  const found = faults.filter(({ verdict }) => verdict === 'found');
  const unknown = faults.filter(({ verdict }) => verdict === 'unknown');
  const advice = isDenied ? '; not root: use sudo' : '';
  if (found.length > 0) {
    const others = unknown.length > 0 ? `; ${counted(unknown.length, 'other fault')} unknown` : '';
    return { text: `${foundText(found)}${others}${advice}`, tone: toneOf(found) };
  }
  if (unknown.length > 0) {
    return { text: `unknown: ${unknownText(unknown, faults)}${advice}`, tone: 'yellow' };
  }
  const harmless = faults.filter(({ findings }) => findings.length > 0);
  const total = harmless.reduce((sum, { findings }) => sum + findings.length, 0);
  const benign = harmless.map(({ name, findings }) => `${name} ${findings.length}`).join(', ');
  const noted = total > 0 ? `; ${counted(total, 'benign finding')}: ${benign}` : '';
  return { text: `no fault found${noted}`, tone: 'green' };
}

function foundText(found: readonly FaultReport[]): string {
  const counts = found.map((fault) => ({ name: fault.name, open: openIn(fault).length }));
  const total = counts.reduce((sum, { open }) => sum + open, 0);
  const each = counts.map(({ name, open }) => `${name} ${open}`).join(', ');
  return `${counted(found.length, 'fault')}, ${counted(total, 'finding')}: ${each}`;
}

function unknownText(unknown: readonly FaultReport[], all: readonly FaultReport[]): string {
  const [only] = all;
  if (all.length === 1 && only) return `${only.name} could not be checked`;
  if (unknown.length === all.length) return `none of the ${all.length} faults could be checked`;
  return `${unknown.length} of ${all.length} faults could not be checked`;
}

function openIn({ findings }: FaultReport) {
  return findings.filter(({ state }) => state !== 'benign');
}

/** Damaged and active findings are red, latent ones yellow. */
function toneOf(found: readonly FaultReport[]): Style {
  const isLatent = found.flatMap(openIn).every(({ state }) => state === 'latent');
  return isLatent ? 'yellow' : 'red';
}

/** Why a fault is unknown when permissions are missing. */
const NOT_ROOT = 'not root (details: -o json)';

/** Replaces the single denied reads by one reason for a person who is not root. */
export function withoutDenials(report: Report, isRoot = geteuid?.() === 0): ShownReport {
  if (isRoot) return report;
  const isDenied = ({ verdict, failures = [] }: FaultReport) =>
    verdict === 'unknown' && failures.includes('denied');
  const faults = report.faults.map((fault) =>
    isDenied(fault) ? { ...fault, reason: NOT_ROOT } : fault,
  );
  return { ...report, faults, isDenied: report.faults.some(isDenied) };
}
