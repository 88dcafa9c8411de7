import { readFileSync } from 'node:fs';
import { parseSync } from 'oxc-parser';

/** A field of an interface as its author wrote it. */
export interface Field {
  readonly name: string;
  /** The comment above it, as one paragraph; empty when there is none. */
  readonly comment: string;
  readonly type: string;
}

export interface Declared {
  readonly comment: string;
  /** The right side of a type, the body of an interface. */
  readonly text: string;
  /** Of an interface. */
  readonly fields: readonly Field[];
  /** Of a union of words: each word, and what is written behind it on its line. */
  readonly words: readonly { readonly word: string; readonly comment: string }[];
}

/** The exported types of a source file with their comments, so that a page need not repeat them. */
export function declaredIn(path: string): ReadonlyMap<string, Declared> {
  const source = readFileSync(path, 'utf8');
  const { program, comments, errors } = parseSync(path, source);
  if (errors[0]) throw new Error(`${path}: ${errors[0].message}`);

  const commentBefore = (start: number): string => {
    const above = comments.findLast(
      ({ type, end }) => type === 'Block' && end <= start && source.slice(end, start).trim() === '',
    );
    return above ? paragraphOf(above.value) : '';
  };
  const commentBehind = (end: number): string => {
    const lineEnd = source.indexOf('\n', end);
    const behind = comments.find(
      ({ type, start }) => type === 'Line' && start >= end && start < lineEnd,
    );
    return behind?.value.trim() ?? '';
  };
  const textOf = ({ start, end }: { readonly start: number; readonly end: number }) =>
    plainType(source.slice(start, end));

  const declared = new Map<string, Declared>();
  for (const statement of program.body) {
    if (statement.type !== 'ExportNamedDeclaration' || !statement.declaration) continue;
    const { declaration } = statement;
    const comment = commentBefore(statement.start);
    if (declaration.type === 'TSTypeAliasDeclaration') {
      const { typeAnnotation } = declaration;
      const members = typeAnnotation.type === 'TSUnionType' ? typeAnnotation.types : [];
      const words = members.flatMap((member) =>
        member.type === 'TSLiteralType' && 'value' in member.literal
          ? [{ word: String(member.literal.value), comment: commentBehind(member.end) }]
          : [],
      );
      declared.set(declaration.id.name, {
        comment,
        text: textOf(typeAnnotation),
        fields: [],
        words,
      });
    }
    if (declaration.type !== 'TSInterfaceDeclaration') continue;
    const fields = declaration.body.body.flatMap((member): readonly Field[] => {
      if (member.type !== 'TSPropertySignature' || !member.typeAnnotation) return [];
      return [
        {
          name: source.slice(member.key.start, member.key.end),
          comment: commentBefore(member.start),
          type: textOf(member.typeAnnotation.typeAnnotation),
        },
      ];
    });
    declared.set(declaration.id.name, {
      comment,
      text: textOf(declaration.body),
      fields,
      words: [],
    });
  }
  return declared;
}

/** A type that must be there: a page about something that was renamed must not come out empty. */
export function declaredAs(path: string, name: string): Declared {
  const found = declaredIn(path).get(name);
  if (!found) throw new Error(`${path} exports no type ${name}`);
  return found;
}

/** The stars and the lines of a block comment are how it is written, not what it says. */
function paragraphOf(comment: string): string {
  const lines = comment.split('\n').map((line) => line.replace(/^\s*\*+ ?/, '').trim());
  return lines
    .join('\n')
    .trim()
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.replaceAll('\n', ' '))
    .join('\n\n');
}

/** Without `readonly`, and moved to the left as far as it goes. */
function plainType(text: string): string {
  const [first = '', ...rest] = text.replace(/\breadonly /g, '').split('\n');
  const indents = rest.map((line) => line.length - line.trimStart().length);
  const least = Math.min(...indents);
  return [first, ...rest.map((line) => line.slice(least))].join('\n');
}
