import { WARNINGS_CHARACTERS_MAX } from './limits.ts';

/** What kubectl prints beside an answer. Some clients take no more than 16 KiB of headers. */
export function warningHeaders(
  warnings: readonly string[],
): Readonly<Record<string, readonly string[]>> {
  const lines: string[] = [];
  let characters = 0;
  for (const [index, text] of warnings.entries()) {
    // A header is ASCII of one line.
    const line = text.replace(/[^ -~]/g, '?').replace(/["\\]/g, "'");
    characters += line.length;
    if (characters > WARNINGS_CHARACTERS_MAX) {
      lines.push(`and ${warnings.length - index} more of such warnings`);
      break;
    }
    lines.push(line);
  }
  return lines.length === 0 ? {} : { Warning: lines.map((text) => `299 - "${text}"`) };
}
