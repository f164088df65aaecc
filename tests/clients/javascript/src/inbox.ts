/** What a subscription sends, to be taken message by message. */
export class Inbox<Message> {
  private readonly arrived: Message[] = [];
  private readonly takers: ((message: Message) => void)[] = [];

  readonly put = (message: Message): void => {
    const taker = this.takers.shift();
    if (taker) taker(message);
    else this.arrived.push(message);
  };

  take(): Promise<Message> {
    const message = this.arrived.shift();
    return message === undefined ? new Promise((taker) => this.takers.push(taker)) : Promise.resolve(message);
  }
}

/** What may be null by its type, but not here. */
export function given<Value>(value: Value | null | undefined): Value {
  if (value === null || value === undefined) throw new Error("nothing was given");
  return value;
}
