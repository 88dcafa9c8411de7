import * as z from 'zod';
import { count } from './fields.ts';

/** A finding, in the status of a Diagnosis and in a NodeReport, which bounds its texts. */
export function findingOf(text: z.ZodString) {
  return z.object({
    fault: text.describe('Name of the fault; "kubediag explain FAULT" describes it.'),
    id: text.describe('Identifies the finding: the same thing in the same state has the same id.'),
    state: text.describe(
      'damaged (harm is done), active (it does harm now), latent (it will do harm) or benign.',
    ),
    reason: text.describe('One word for programs, for example MountSourceDeleted.'),
    summary: text.describe('What is wrong, in one sentence.'),
    subject: subjectOf(text).exactOptional(),
    proof: z
      .array(proofOf(text))
      .describe('Lines that prove the finding, with their origin.')
      .exactOptional(),
    proofNotListed: count
      .describe('Number of proof lines left out, because the status has a size limit.')
      .exactOptional(),
  });
}

export function subjectOf(text: z.ZodString) {
  return z
    .object({
      namespace: text.describe('Namespace of the pod.').exactOptional(),
      pod: text.describe('Name of the pod.').exactOptional(),
      podUid: text.describe('UID of the pod.').exactOptional(),
      container: text.describe('Name of the container.').exactOptional(),
      volume: text.describe('Name of the volume.').exactOptional(),
      mount: text.describe('Mount point on the node.').exactOptional(),
      path: text.describe('Path on the node.').exactOptional(),
    })
    .describe('What the finding is about: every field that applies.');
}

export function proofOf(text: z.ZodString) {
  return z.object({
    claim: text.describe('What the line shows.'),
    text: text.describe('The line itself; absent if the claim says it all.').exactOptional(),
    origin: text.describe('Where it was read.'),
  });
}
