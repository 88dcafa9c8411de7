/** Different stacks that are retained. An overloaded kubelet has some hundred. */
export const GROUPS_MAX = 4_000;

/** Bytes of one stack. Go prints at most a hundred frames, some ten kilobytes. */
export const STACK_BYTES_MAX = 256 * 1024;

/** No line of a dump is longer. */
export const LINE_BYTES_MAX = 64 * 1024;

/** Goroutines of one group that are named by their ids. */
export const IDS_MAX = 8;

/** How far into a line the parser searches for the dump's own text, behind the prefix of a log. */
export const PREFIX_BYTES_MAX = 512;

/** Sections and loaded parts of a program; a kubelet has some twenty-five and ten. */
export const ELF_SECTIONS_MAX = 4_096;
export const ELF_SEGMENTS_MAX = 256;

/** Functions of a program; a kubelet has some 150,000. */
export const FUNCTIONS_MAX = 4_000_000;

/** Symbols of a program that was not stripped: 24 bytes each. */
export const SYMBOLS_MAX = 2_000_000;

/** Bytes of one function's name; generic ones are long. */
export const NAME_BYTES_MAX = 4_096;

/** Bytes of a program without sections that are searched for its table. */
export const PC_TABLE_SEARCH_BYTES_MAX = 512 * 1024 * 1024;

/** Relocations of a program: a position-independent kubelet has some 300,000. */
export const RELOCATIONS_MAX = 4_000_000;

/** Samples, functions and texts of a profile; one of a busy minute has some ten thousand. */
export const PROFILE_ENTRIES_MAX = 2_000_000;

/** Calls of one sample; Go itself stops at 128 locations, each of a few functions. */
export const PROFILE_STACK_MAX = 1_024;

/** Size changes of the frame of one function: a few, in long functions some hundred. */
export const FRAME_PAIRS_MAX = 10_000;

/** Calls of one stack that are walked. Go's own dumps show a hundred; a deep recursion has more. */
export const FRAMES_MAX = 500;

/** Bytes of one frame. Go moves larger variables to the heap. */
export const FRAME_BYTES_MAX = 16 * 1024 * 1024;
