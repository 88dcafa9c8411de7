/** One object of deploy/kubediag.yaml, and what a reader should know about it. */
export interface ManifestDocument {
  readonly comment?: string;
  readonly object: object;
}

export const LABELS = { 'app.kubernetes.io/part-of': 'kubediag' };
