/** The package brings no types. */
declare module 'postject' {
  export function inject(
    executable: string,
    resource: string,
    content: Buffer,
    options: { readonly sentinelFuse: string },
  ): Promise<void>;
}
