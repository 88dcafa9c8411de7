import { z } from 'zod';
import { reportSchema } from '../report-schema.ts';
import { declaredIn } from './doc-comments.ts';

const SOURCES = ['src/node/checkup/report.ts', 'src/node/model/finding.ts'];

interface Described {
  description?: string;
  readonly properties?: Readonly<Record<string, { description?: string }>>;
}

/** docs/reference/report.schema.json, with the comments of the source as descriptions. */
export function schemaPage(notice: string): string {
  // As input: a later report may have fields that this schema does not know.
  const created = JSON.stringify(z.toJSONSchema(reportSchema, { io: 'input' }));
  const schema = JSON.parse(created) as { readonly $defs: Readonly<Record<string, Described>> };
  const declared = new Map(SOURCES.flatMap((path) => [...declaredIn(path)]));
  for (const [name, definition] of Object.entries(schema.$defs)) {
    const source = declared.get(name);
    if (!source) throw new Error(`no interface ${name} in ${SOURCES.join(' or ')}`);
    if (source.comment) definition.description = source.comment;
    for (const { name: field, comment } of source.fields) {
      const property = definition.properties?.[field];
      if (comment && property) property.description = comment;
    }
  }
  return JSON.stringify({ $comment: notice, title: 'KubeDiag Report', ...schema }, null, 2);
}
