import { UsageError } from '../../../lib/terminal/usage-error.ts';
import { bytesGiven } from '../input/given-file.ts';
import { TEMPLATE_BYTES_MAX } from '../limits.ts';
import { type CustomColumn, columnsGiven, columnsOfFile } from '../screens/custom-columns.ts';
import { type JsonPathTemplate, parseJsonPath } from '../screens/parse-json-path.ts';
import { OUTPUT_FORMATS } from './output-formats.ts';

export type OutputFormat =
  | { readonly is: 'table' | 'wide' | 'yaml' | 'json' | 'name' }
  | { readonly is: 'jsonpath' | 'jsonpath-as-json'; readonly template: JsonPathTemplate }
  | { readonly is: 'custom-columns'; readonly columns: readonly CustomColumn[] };

// jsonpath={.items[*].metadata.name}
const WITH_TEMPLATE = /^([a-z-]+)(?:=([\s\S]*))?$/;

/** Throws for an unknown format or a wrong template, before anything is sent. */
export async function outputFormat(text: string): Promise<OutputFormat> {
  const [, name = text, given = ''] = WITH_TEMPLATE.exec(text) ?? [];
  switch (name) {
    case 'table':
    case 'wide':
    case 'yaml':
    case 'json':
    case 'name':
      if (text === name) return { is: name };
      break;
    case 'jsonpath':
    case 'jsonpath-as-json':
      return { is: name, template: parseJsonPath(required(given)) };
    case 'jsonpath-file':
      return { is: 'jsonpath', template: parseJsonPath(await fileText(required(given))) };
    case 'custom-columns':
      return { is: name, columns: columnsGiven(given) };
    case 'custom-columns-file':
      return { is: 'custom-columns', columns: columnsOfFile(await fileText(required(given))) };
    default:
  }
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
