import { describeFault } from '../../../test/describe-fault.ts';
import { leftoverVolumeDirectory } from './fault.ts';

describeFault(leftoverVolumeDirectory, import.meta.dirname);
