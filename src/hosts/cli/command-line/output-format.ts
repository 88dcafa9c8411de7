import { textAt } from '../../../lib/std/json.ts';
import { jsonText } from '../../../lib/std/json-text.ts';
import { UsageError } from '../../../lib/terminal/usage-error.ts';
import { bytesGiven } from '../input/given-file.ts';
import { TEMPLATE_BYTES_MAX } from '../limits.ts';
import { columnsGiven, columnsOfFile, customColumnLines } from '../screens/custom-columns.ts';
import { jsonPathText, jsonPathValues } from '../screens/json-path.ts';
import { parseJsonPath } from '../screens/parse-json-path.ts';
import { yamlText } from '../screens/show-report.ts';
import { fullName, kindNamed } from './kind-named.ts';
import { OUTPUT_FORMATS } from './shared-options.ts';

/** A table that the agent makes, or a printer of objects. */
export type OutputFormat = 'table' | 'wide' | Printer;

/** Prints objects one by one, or all as one document. */
export type Printer = (objects: readonly unknown[], document: unknown) => string | Promise<string>;

const WITHOUT_TEMPLATE: ReadonlyMap<string, OutputFormat> = new Map<string, OutputFormat>([
  ['table', 'table'],
  ['wide', 'wide'],
  ['yaml', (_, document) => yamlText(document)],
  ['json', (_, document) => indentedJson(document)],
  ['name', (objects) => objects.map((each) => `${nameOf(each)}\n`).join('')],
]);

// jsonpath={.items[*].metadata.name}
const WITH_TEMPLATE = /^([a-z-]+)(?:=([\s\S]*))?$/;

/** Throws for an unknown format or a wrong template, before anything is sent. */
export async function outputFormat(text: string, withHeadings: boolean): Promise<OutputFormat> {
  const [, name, given = ''] = WITH_TEMPLATE.exec(text) ?? [];
  switch (name) {
    case 'jsonpath':
      return jsonPathPrinter(required(given));
    case 'jsonpath-file':
      return jsonPathPrinter(await fileText(required(given)));
    case 'jsonpath-as-json': {
      const template = parseJsonPath(required(given));
      return (_, document) => indentedJson(jsonPathValues(template, document));
    }
    case 'custom-columns':
      return customColumnLines(columnsGiven(given), withHeadings);
    case 'custom-columns-file':
      return customColumnLines(columnsOfFile(await fileText(required(given))), withHeadings);
    default:
  }
  const format = WITHOUT_TEMPLATE.get(text);
  if (format) return format;
  const allowed = OUTPUT_FORMATS.map((each) => each.replace('=', '')).join(',');
  throw new UsageError(
    `unable to match a printer suitable for the output format "${text}", allowed formats are: ${allowed}`,
  );
}

function required(template: string): string {
  if (template === '') throw new UsageError('template format specified but no template given');
  return template;
}

async function fileText(path: string): Promise<string> {
  return Buffer.from(await bytesGiven(path, TEMPLATE_BYTES_MAX)).toString('utf8');
}

function jsonPathPrinter(text: string): Printer {
  const template = parseJsonPath(text);
  return (_, document) => jsonPathText(template, document);
}

function indentedJson(value: unknown): string {
  return `${jsonText(value, 4)}\n`;
}

function nameOf(object: unknown): string {
  const kind = kindNamed(textAt(object, 'kind') ?? '');
  return fullName(kind, textAt(object, 'metadata', 'name') ?? '');
}
