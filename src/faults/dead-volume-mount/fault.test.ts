import { describeFault } from '../../../test/describe-fault.ts';
import { deadVolumeMount } from './fault.ts';

describeFault(deadVolumeMount, import.meta.dirname);
