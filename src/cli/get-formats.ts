/** How `kubediag get` shows what it got. */
export const GET_FORMATS = ['table', 'wide', 'yaml', 'json', 'name'] as const;
