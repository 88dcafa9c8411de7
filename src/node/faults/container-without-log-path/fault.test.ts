import { describeFault } from '../../../../test/describe-fault.ts';
import { nodes, optionalReads } from '../../../../test/faults/container-without-log-path.ts';
import { containerWithoutLogPath } from './fault.ts';

describeFault(containerWithoutLogPath, { nodes: nodes(), optionalReads });
