import { describeFault } from '../../../../test/describe-fault.ts';
import { nodes } from '../../../../test/faults/conntrack-table-full.ts';
import { conntrackTableFull } from './fault.ts';

describeFault(conntrackTableFull, { nodes: nodes() });
