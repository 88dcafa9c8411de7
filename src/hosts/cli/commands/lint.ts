import { counted } from '../../../lib/std/counted.ts';
import { jsonText } from '../../../lib/std/json.ts';
import { printable } from '../../../lib/std/printable.ts';
import { EXIT, type Terminal, UsageError } from '../../../lib/terminal/terminal.ts';
import { labelledText } from '../../../lib/terminal/wrap.ts';
import { GROUP } from '../../../pipeline/api/kinds.ts';
import type { ManifestOptions } from '../command-line/shared-options.ts';
import { PROBLEMS_SHOWN_MAX } from '../limits.ts';
import { type LintProblem, type LintReport, lintManifests } from '../manifests/lint-manifests.ts';
import { manifestsGiven } from '../manifests/manifests-given.ts';

export interface LintOptions extends ManifestOptions {
  readonly output?: 'json';
}

export async function lint(options: LintOptions, terminal: Terminal): Promise<number> {
  const { filename, output } = options;
  const files = await manifestsGiven(options);
  const report = lintManifests(files);
  if (report.resources === 0 && report.problems.length === 0) {
    const where = filename.join(', ');
    throw new UsageError(`nothing to check: no resource of ${GROUP} in ${where}`);
  }
  if (output === 'json') terminal.out(`${jsonText(report, 2)}\n`);
  else showLint(report, terminal.out, terminal);
  const isClean = report.problems.every(({ severity }) => severity === 'note');
  return isClean ? EXIT.clear : EXIT.found;
}

/** Writes to standard output for `lint`, and to standard error where it is the reason for a refusal. */
export function showLint(
  { files, resources, problems }: LintReport,
  write: Terminal['out'],
  terminal: Terminal,
): void {
  const shown = problems.slice(0, PROBLEMS_SHOWN_MAX);
  for (const problem of shown) write(`${linesOf(problem, terminal).join('\n')}\n\n`);
  const left = problems.length - shown.length;
  if (left > 0) write(`and ${left} more: -o json\n`);
  const count = (severity: LintProblem['severity']) =>
    problems.filter((problem) => problem.severity === severity).length;
  const checked = `${countedOrNo(resources, 'resource')} in ${countedOrNo(files, 'file')}`;
  const found = `${countedOrNo(count('problem'), 'problem')}, ${countedOrNo(count('note'), 'note')}`;
  write(`${checked}: ${found}\n`);
}

/** "no notes", "1 note", "2 notes" */
function countedOrNo(count: number, noun: string): string {
  return count === 0 ? `no ${noun}s` : counted(count, noun);
}

/** The first line is in the form that editors know: file, line, severity, place, what is wrong. */
function linesOf(problem: LintProblem, { width, style }: Terminal): readonly string[] {
  const { severity, file, line, resource, place, what, fix } = problem;
  const marked = style(severity === 'problem' ? 'red' : 'yellow', severity);
  const text = [place, what].filter((each) => each !== undefined).join(': ');
  return [
    `${printable(file)}:${line}: ${marked}: ${printable(text)}`,
    ...(resource === undefined ? [] : labelledText('in', resource, width)),
    ...labelledText('fix', fix, width),
  ];
}
