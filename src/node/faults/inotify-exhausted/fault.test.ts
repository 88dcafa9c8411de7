import { describeFault } from '../../../../test/describe-fault.ts';
import { nodes } from '../../../../test/faults/inotify-exhausted.ts';
import { inotifyExhausted } from './fault.ts';

describeFault(inotifyExhausted, { nodes: nodes() });
