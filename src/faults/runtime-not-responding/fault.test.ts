import { describeFault } from '../../../test/describe-fault.ts';
import { runtimeNotResponding } from './fault.ts';

describeFault(runtimeNotResponding, import.meta.dirname);
