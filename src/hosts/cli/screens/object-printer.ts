import { textAt } from '../../../lib/std/json.ts';
import { jsonText } from '../../../lib/std/json-text.ts';
import { fullName, kindNamed } from '../command-line/kind-named.ts';
import type { OutputFormat } from '../command-line/output-format.ts';
import { customColumnLines } from './custom-columns.ts';
import { jsonPathText, jsonPathValues } from './json-path.ts';
import { yamlText } from './show-report.ts';

/** Prints objects one by one, or all as one document. */
type Printer = (objects: readonly unknown[], document: unknown) => string | Promise<string>;

const JSON_INDENT = 4;

export function printerOf(format: OutputFormat, withHeadings: boolean): Printer {
  switch (format.is) {
    case 'yaml':
      return (_, document) => yamlText(document);
    case 'name':
      return (objects) => objects.map((each) => `${nameOf(each)}\n`).join('');
    case 'jsonpath':
      return (_, document) => jsonPathText(format.template, document);
    case 'jsonpath-as-json':
      return (_, document) =>
        `${jsonText(jsonPathValues(format.template, document), JSON_INDENT)}\n`;
    case 'custom-columns':
      return customColumnLines(format.columns, withHeadings);
    default:
      return (_, document) => `${jsonText(document, JSON_INDENT)}\n`;
  }
}

function nameOf(object: unknown): string {
  const kind = kindNamed(textAt(object, 'kind') ?? '');
  return fullName(kind, textAt(object, 'metadata', 'name') ?? '');
}
