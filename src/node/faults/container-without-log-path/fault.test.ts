import { describeFault } from '../../../../test/describe-fault.ts';
import { containerWithoutLogPath } from './fault.ts';

describeFault(containerWithoutLogPath, import.meta.dirname);
