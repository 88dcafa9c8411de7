import { type StructuralSchema, structuralSchema } from '../../src/pipeline/api/crd.ts';
import { API_VERSION, clusterKinds, type DefinedKind } from '../../src/pipeline/api/kinds.ts';
import { code, tableOf } from './markdown.ts';

/** docs/reference/resources.md: every field of every kind, from the schemas. */
export function resourcesPage(): string {
  return [
    '# Resources\n',
    `The resources of ${code(API_VERSION)}. ${code('deploy/crds')} has their CustomResourceDefinitions;\n` +
      `${code('kubediag lint -f FILE')} checks manifests without an API server. Unknown fields are rejected.\n`,
    ...clusterKinds.map(kindPart),
  ].join('\n');
}

function kindPart(kind: DefinedKind): string {
  const names = kind.shortNames.map(code).join(', ');
  const head = `${kind.description} ${SCOPES[kind.scope]}; short name ${names}.\n`;
  const rows = [
    ...(kind.spec ? rowsOf(structuralSchema(kind.spec), 'spec') : []),
    ...(kind.status ? rowsOf(structuralSchema(kind.status), 'status') : []),
  ];
  return [`## ${kind.kind}\n`, head, tableOf(['field', 'type', 'bounds', 'is'], rows)].join('\n');
}

const SCOPES = { Cluster: 'Cluster-scoped', Namespaced: 'Namespaced' } as const;

/** A row for each field, those of objects and lists after it. */
function rowsOf(schema: StructuralSchema, path: string): readonly (readonly string[])[] {
  const required = (schema.required ?? []) as readonly string[];
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const here = `${path}.${name}`;
    const text = [
      ...(required.includes(name) ? ['required'] : []),
      ...('default' in field ? [`default ${code(String(field.default))}`] : []),
      ...boundsOf(field),
    ].join(', ');
    const { inner, suffix } = insideOf(field);
    const row = [code(here), typeOf(field), text, field.description ?? ''];
    return [row, ...rowsOf(inner, `${here}${suffix}`)];
  });
}

function insideOf(field: StructuralSchema): { inner: StructuralSchema; suffix: string } {
  if (!field.items) return { inner: field, suffix: '' };
  const { inner, suffix } = insideOf(field.items);
  return { inner, suffix: `[]${suffix}` };
}

function typeOf({ type = '', items, additionalProperties }: StructuralSchema): string {
  if (items) return `list of ${typeOf(items)}`;
  return additionalProperties ? `map of ${typeOf(additionalProperties)}` : type;
}

const INT32_MAX = 2_147_483_647;

function boundsOf(field: StructuralSchema): readonly string[] {
  const { minimum, maximum, minItems, maxItems } = field as Readonly<Record<string, number>>;
  const text = (field.enum ?? []) as readonly string[];
  return [
    ...(text.length > 0 ? [`one of ${text.map((word) => code(word || '""')).join(' ')}`] : []),
    ...(minimum !== undefined && maximum !== undefined && maximum < INT32_MAX
      ? [`${minimum} to ${maximum}`]
      : []),
    ...(minItems === undefined ? [] : [`at least ${minItems} entries`]),
    ...(maxItems === undefined ? [] : [`at most ${maxItems} entries`]),
  ];
}
