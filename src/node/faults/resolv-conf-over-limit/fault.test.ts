import { describeFault } from '../../../../test/describe-fault.ts';
import { nodes } from '../../../../test/faults/resolv-conf-over-limit.ts';
import { resolvConfOverLimit } from './fault.ts';

describeFault(resolvConfOverLimit, {
  nodes: nodes(),
  optionalReads: [
    {
      reads: /^(?:kubelet|version) |^status \/proc\/812\/root$/,
      why: 'the file is within the limits of every version',
      on: ['look-alike-at-the-old-limit', 'look-alike-no-file'],
    },
  ],
});
