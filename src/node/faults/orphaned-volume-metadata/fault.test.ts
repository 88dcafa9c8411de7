import { describeFault } from '../../../../test/describe-fault.ts';
import { orphanedVolumeMetadata } from './fault.ts';

describeFault(orphanedVolumeMetadata, import.meta.dirname);
