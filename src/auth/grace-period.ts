/** How long a replaced secret of a key or a webhook stays valid when the client does not say, in seconds: one day. */
export const defaultGraceSeconds = 86_400;

/** The longest time that a replaced secret can stay valid, in seconds: 30 days. */
export const maxGraceSeconds = 30 * 86_400;
