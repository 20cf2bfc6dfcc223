// Why a gateway refused a request, or could not be asked.

export class ServerError extends Error {
  /** `code`: as in docs/protocol.md; "unreachable" where there was no answer. */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** Of an answer that is no success. */
export async function refusalOf(answer) {
  const { error } = await answer.json().catch(() => ({}));
  return new ServerError(error?.code ?? "failed", error?.message ?? `the server answered ${answer.status}`);
}
