import { inotifyUse } from '../../evidence/kernel/inotify-use.ts';
import { measureUse, raiseSysctl, signature, threshold } from '../checks.ts';
import { defineShortFault } from '../short-fault.ts';

export const inotifyExhausted = defineShortFault({
  id: 'inotify-exhausted',
  title: 'A user has no inotify instances or watches left',
  severity: 'broken',
  references: ['https://github.com/kubernetes/kubernetes/issues/64614'],
  affected: [
    { component: 'Linux', versions: 'all', behaviour: 'by default 128 instances for each user' },
  ],
  checks: [
    threshold({
      evidence: inotifyUse,
      measure: (uses) =>
        uses.map(({ used, limit, ...rest }) => ({ ...measureUse(used, limit, 0.8), ...rest })),
      fail: {
        reason: 'InotifyExhausted',
        means: 'A user has reached its limit: inotify_init or inotify_add_watch fails for it.',
        summary: ({ who, what, value, max }) =>
          `All inotify ${what} of ${who} are in use: ${value} of ${max}.`,
      },
      warn: {
        reason: 'InotifyNearlyExhausted',
        means: 'A user has at least 80 % of its inotify instances or watches in use.',
        summary: ({ who, what, value, max }) =>
          `${value} of ${max} inotify ${what} of ${who} are in use.`,
      },
    }),
    signature({
      id: 'inotify-failed',
      log: 'kubelet',
      isSupplement: true,
      example: 'inotify_init: too many open files',
      literals: ['too many open files', 'inotify_add_watch'],
      patterns: [
        // inotify_init: too many open files; failed to create fsnotify watcher: too many open files
        /(?<call>inotify_init\d?|fsnotify watcher): too many open files/,
        // inotify_add_watch /sys/fs/cgroup/cpuset/kubepods/pod1: no space left on device
        /(?<call>inotify_add_watch) [^\s"]{1,400}: no space left on device/,
      ],
      withinMs: 60 * 60_000,
      recent: {
        reason: 'InotifyFailed',
        means: 'inotify failed for the kubelet in the last hour; the limits are checked beside it.',
        summary: ({ last }) => `The kubelet logged that ${last.fields.call} failed.`,
      },
    }),
  ],
  blastRadius:
    'the kubelet, the runtime and pods of this user fail to start, or miss changes of files',
  excluded: [
    'a process at its own limit of open files: instances are counted for the whole user',
    'a full disk: inotify_add_watch says "no space left on device" when watches are used up',
  ],
  risk: 'none known; each watch takes about 1 KiB of memory of the kernel while it is used',
  steps: ({ max, pins }) => [
    raiseSysctl(max ? `fs.inotify.max_user_${pins?.what}` : 'fs.inotify', max),
  ],
  prevention: ['write the value to /etc/sysctl.d/90-inotify.conf'],
});
