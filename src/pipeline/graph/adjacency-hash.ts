import type { GraphNode } from '../api/operation-set.ts';

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/**
 * The label `adjacency-list-hash` as every KubeDiag writes it: the hash of the list as Go prints it,
 * with letters for its digits. The number of a node is its position.
 */
export function adjacencyHash(list: readonly GraphNode[]): string {
  const text = `([]v1.Node)[${list.map(nodeText).join(' ')}]`;
  const digits = String(fnv32(text));
  return digits.replace(/\d/g, (digit) => ALPHABET.charAt(digit.charCodeAt(0) % ALPHABET.length));
}

// {ID:(int)1 To:(v1.NodeSet)[2] Operation:(string)pod-detail-collector Dependences:(v1.NodeSet)<nil>}
function nodeText({ to, operation = '', dependences }: GraphNode, index: number): string {
  const fields = [
    `ID:(int)${index}`,
    `To:(v1.NodeSet)${setText(to)}`,
    `Operation:(string)${operation}`,
    `Dependences:(v1.NodeSet)${setText(dependences)}`,
  ];
  return `{${fields.join(' ')}}`;
}

function setText(numbers: readonly number[] | undefined): string {
  return numbers === undefined ? '<nil>' : `[${numbers.join(' ')}]`;
}

/** FNV-1a, 32 bits. Names of objects are ASCII, so a character is a byte. */
function fnv32(text: string): number {
  let hash = FNV_OFFSET;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), FNV_PRIME);
  }
  return hash >>> 0;
}
