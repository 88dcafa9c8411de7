/** A table; a cell may hold anything, so what would end it is escaped. */
export function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cellText).join(' | ')} |\n`;
  return [line(head), `|${'---|'.repeat(head.length)}\n`, ...rows.map(line)].join('');
}

function cellText(text: string): string {
  return text.replace(/\s+/g, ' ').replaceAll('|', '\\|').trim();
}

export function fenced(language: string, text: string): string {
  return `\`\`\`${language}\n${text.trimEnd()}\n\`\`\`\n`;
}

export function code(text: string): string {
  return `\`${text}\``;
}
