import { execFile } from 'node:child_process';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  type Missing,
  type UnpackedPackages,
  unpackedPackages,
} from '../../tools/debian-packages.ts';

const run = promisify(execFile);

const PACKAGES = ['systemd-journal-remote', 'libmicrohttpd12'];
const PRINTER = '/usr/bin/journalctl';
const WRITE_MS = 30_000;

/** What a test that needs a journal asks first. The reader runs the machine's own journalctl. */
export async function journalPackages(): Promise<UnpackedPackages | Missing> {
  const isThere = await access(PRINTER).then(
    () => true,
    () => false,
  );
  if (!isThere) return { missing: `it needs ${PRINTER}; install the package systemd` };
  return unpackedPackages(PACKAGES);
}

export interface JournalEntry {
  readonly MESSAGE: string;
  readonly [field: string]: string;
}

const FIRST_MICROS = 1_776_418_555_000_000n;
const SOME_ID = '0123456789abcdef0123456789abcdef';

/** A real journal of these entries, one for each second from 2026-04-17T09:35:55Z on. */
export async function makeJournal(folder: string, entries: readonly JournalEntry[]): Promise<void> {
  const packages = await journalPackages();
  if ('missing' in packages) throw new Error(packages.missing);
  await mkdir(folder, { recursive: true });
  const exported = join(folder, 'entries.export');
  await writeFile(exported, entries.map(exportedEntry).join(''));
  await run(
    join(packages.root, 'lib/systemd/systemd-journal-remote'),
    [`--output=${join(folder, 'system.journal')}`, '--split-mode=none', exported],
    { env: { ...process.env, ...packages.environment }, timeout: WRITE_MS },
  );
}

function exportedEntry(entry: JournalEntry, index: number): string {
  const { _COMM: program = 'kubelet' } = entry;
  const fields = {
    __REALTIME_TIMESTAMP: String(FIRST_MICROS + BigInt(index) * 1_000_000n),
    __MONOTONIC_TIMESTAMP: String(index * 1_000_000),
    _BOOT_ID: SOME_ID,
    _MACHINE_ID: SOME_ID,
    _HOSTNAME: 'edge',
    SYSLOG_IDENTIFIER: program,
    _PID: '8904',
    ...entry,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}=${value}\n`);
  // An empty line ends an entry, the last one too.
  return `${lines.join('')}\n`;
}
