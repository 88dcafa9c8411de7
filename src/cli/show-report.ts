import type { Report } from '../checkup/report.ts';
import { EXIT } from './exit-codes.ts';
import { screenOf } from './screen.ts';
import type { Terminal } from './terminal.ts';

export const REPORT_FORMATS = ['wide', 'json', 'yaml', 'name'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

/** Writes the report to standard output, and gives the exit code that it means. */
export async function showReport(
  report: Report,
  format: ReportFormat | undefined,
  terminal: Terminal,
): Promise<number> {
  terminal.out(await textOfReport(report, format, terminal));
  return codeOf(report);
}

/** The exit code that a report means. */
export function codeOf(report: Report): number {
  if (report.faults.some(({ verdict }) => verdict === 'found')) return EXIT.found;
  return report.faults.some(({ verdict }) => verdict === 'unknown') ? EXIT.unknown : EXIT.clear;
}

async function textOfReport(
  report: Report,
  format: ReportFormat | undefined,
  terminal: Terminal,
): Promise<string> {
  switch (format) {
    case 'json':
      return `${JSON.stringify(report, null, 2)}\n`;
    case 'yaml':
      return yamlText(report);
    case 'name':
      return report.faults
        .flatMap(({ name, findings }) =>
          findings.filter(({ state }) => state !== 'benign').map(({ id }) => `${name}/${id}\n`),
        )
        .join('');
    default:
      return screenOf(report, terminal, format === 'wide');
  }
}

/** The library is loaded only by those who want YAML. */
export async function yamlText(value: unknown): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify(value, { lineWidth: 0 });
}
