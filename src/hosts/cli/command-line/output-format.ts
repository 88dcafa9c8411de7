import { jsonText, textAt } from '../../../lib/std/json.ts';
import { printable } from '../../../lib/std/printable.ts';
import { UsageError } from '../../../lib/terminal/terminal.ts';
import { bytesGiven } from '../input/given-file.ts';
import { TEMPLATE_BYTES_MAX } from '../limits.ts';
import { columnLines } from '../screens/column-lines.ts';
import {
  type JsonPath,
  jsonPathText,
  jsonPathValues,
  valuesAt,
  valueText,
} from '../screens/json-path.ts';
import { parseJsonPath, parseOnePath } from '../screens/parse-json-path.ts';
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

interface CustomColumn {
  readonly heading: string;
  readonly path: JsonPath;
}

/** "NAME:.metadata.name,PHASE:.status.phase" */
function columnsGiven(text: string): readonly CustomColumn[] {
  if (text === '') {
    throw new UsageError('custom-columns format specified but no custom columns given');
  }
  return text.split(',').map((part) => {
    const [, heading, path] = /^([^:]*):(.+)$/.exec(part) ?? [];
    if (heading === undefined || path === undefined) {
      throw new UsageError(
        `unexpected custom-columns spec: ${part}, expected <header>:<json-path-expr>`,
      );
    }
    return { heading, path: parseOnePath(path) };
  });
}

/** A line of headings, and a line of paths below it. */
function columnsOfFile(text: string): readonly CustomColumn[] {
  const [headings = [], paths = []] = text
    .split('\n')
    .map((line) => line.split(/\s+/).filter(Boolean));
  if (headings.length === 0 || headings.length !== paths.length) {
    throw new UsageError(
      `number of headers (${headings.length}) and path expressions (${paths.length}) don't match`,
    );
  }
  return headings.map((heading, at) => ({ heading, path: parseOnePath(paths[at] ?? '') }));
}

/** Rows of these columns; the first call adds the headings. */
function customColumnLines(columns: readonly CustomColumn[], withHeadings: boolean): Printer {
  const lines = columnLines();
  let isFirst = withHeadings;
  return (objects) => {
    const headings = isFirst ? [columns.map(({ heading }) => heading)] : [];
    isFirst = false;
    return lines([
      ...headings,
      ...objects.map((each) => columns.map(({ path }) => cell(path, each))),
    ]);
  };
}

function cell(path: JsonPath, object: unknown): string {
  const values = valuesAt(path, object).filter((value) => value !== null && value !== '');
  return values.length === 0 ? '<none>' : printable(values.map(valueText).join(','));
}
