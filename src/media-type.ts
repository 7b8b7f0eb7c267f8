/** Whether a body is JSON, by its Content-Type (RFC 8259, section 11; parameters do not matter). */
export const isJson = (contentType: string | null | undefined) =>
  /^application\/json\s*(;|$)/i.test(contentType ?? '');
