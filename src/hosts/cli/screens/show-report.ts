import { jsonText } from '../../../lib/std/json.ts';
import { EXIT, type Terminal } from '../../../lib/terminal/terminal.ts';
import type { Report } from '../../../node/checkup/report.ts';
import type { ReportFormat } from '../command-line/shared-options.ts';
import { screenOf } from './screen.ts';

/** How a report is wanted: -v alone is -o wide. */
export function formatOf(options: {
  readonly output?: ReportFormat;
  readonly verbose?: boolean;
}): ReportFormat | undefined {
  return options.output ?? (options.verbose ? 'wide' : undefined);
}

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
      return `${jsonText(report, 2)}\n`;
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
  const { Document, visit } = await import('yaml');
  const document = new Document(value);
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value === 'string' && isQuoted(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  // Where one is left now, it stands in quotes, and an escape is the same character.
  return document.toString({ lineWidth: 0 }).replace(ACTIVE, escaped);
}

/** The library's blocks lose the spaces of a line that has nothing else. */
function isQuoted(text: string): boolean {
  return text.search(ACTIVE) >= 0 || /^[ \t]+$/m.test(text);
}

/** What would act on a terminal. YAML has line breaks and tabs of its own. */
const ACTIVE = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

function escaped(character: string): string {
  const number = (character.codePointAt(0) ?? 0).toString(16);
  if (number.length <= 2) return `\\x${number.padStart(2, '0')}`;
  return number.length <= 4 ? `\\u${number.padStart(4, '0')}` : `\\U${number.padStart(8, '0')}`;
}
