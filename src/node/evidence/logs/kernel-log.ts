import { attempt, defineEvidence, type UnknownReason } from '../../model/evidence.ts';
import { type LogPlace, originOfLog, ReadError } from '../../model/node-reader.ts';
import { originText } from '../../model/origin.ts';
import { JOURNAL_BYTES } from '../limits.ts';
import { type KubeletLog, logOfLines } from './log-entries.ts';
import { literalsOf } from './log-signatures.ts';

/** The journal, or a syslog file on a node without a journal. */
const PLACES: readonly LogPlace[] = [
  { journal: ['_TRANSPORT=kernel'] },
  { file: '/var/log/kern.log' },
  { file: '/var/log/messages' },
];

// 2026-04-04T16:39:58+0000 worker-7 kernel: nf_conntrack: table full, dropping packet
const OF_KERNEL = /\bkernel: /;

/** Lines of the kernel log that match a signature of a fault. */
export const kernelLog = defineEvidence<KubeletLog>({
  id: 'kernel-log',
  title: 'The log of the kernel',
  command: 'journalctl --dmesg --no-pager',
  collect: async ({ node, logSignatures }) => {
    const signatures = logSignatures.filter(({ log }) => log === 'kernel');
    const asked = { containing: literalsOf(signatures), lastBytes: JOURNAL_BYTES };
    const unread: UnknownReason[] = [];
    for (const log of PLACES) {
      const read = await attempt(node.ask('log', { ...asked, log }));
      if (read.known && read.value.linesRead > 0) {
        const lines = read.value.lines.filter(({ text }) => OF_KERNEL.test(text));
        const options = { now: node.now(), signatures };
        const found = logOfLines({ ...read.value, lines }, originOfLog(log), options);
        return { ...found, readAt: node.now() };
      }
      unread.push(read.known ? { why: `${originText(originOfLog(log))}: it has no lines` } : read);
    }
    const detail = unread.map(({ why }) => why).join('; ');
    const cause = unread.map(({ error }) => error);
    throw new ReadError('missing', 'the log of the kernel', detail, { cause });
  },
});
