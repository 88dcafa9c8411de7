import { describeFault } from '../../../../test/describe-fault.ts';
import { nodes, optionalReads } from '../../../../test/faults/orphaned-volume-metadata.ts';
import { orphanedVolumeMetadata } from './fault.ts';

describeFault(orphanedVolumeMetadata, { nodes: nodes(), optionalReads });
