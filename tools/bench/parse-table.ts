import { readFileSync } from 'node:fs';
import { parseMountTable } from '../../src/node/evidence/mounts/mount-table.ts';

/** Reads a mount table, makes records of it and ends: `parse-table FILE LINES`. */
const [file = '', lines] = process.argv.slice(2);
const { mounts } = parseMountTable(readFileSync(file, 'utf8'), file);
if (mounts.length !== Number(lines)) throw new Error(`${mounts.length} mounts, not ${lines}`);
