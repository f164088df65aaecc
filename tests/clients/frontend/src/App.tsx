import { useMutation, useQuery } from "@apollo/client/react";
import { useState } from "react";
import { Articles } from "./Articles";
import { NewArticle } from "./NewArticle";
import { LOG_IN, LOG_OUT, VIEWER } from "./queries";
import type { Session } from "./session";

export function App({ session }: { session: Session }) {
  const { data } = useQuery(VIEWER);
  const viewer = data?.viewer;
  return (
    <>
      {viewer ? <LogOut name={viewer.username} session={session} /> : <LogIn session={session} />}
      {viewer && <NewArticle />}
      <Articles />
    </>
  );
}

function LogIn({ session }: { session: Session }) {
  const [logIn] = useMutation(LOG_IN);
  const [problem, setProblem] = useState<string>();

  async function submit(form: FormData) {
    const input = { username: String(form.get("username")), password: String(form.get("password")) };
    const { data } = await logIn({ variables: { input } });
    setProblem(data?.logIn?.userErrors[0]?.message);
    if (data?.logIn?.token) session.begin(data.logIn.token);
  }

  return (
    <form action={submit}>
      <input name="username" placeholder="Name" autoComplete="username" />
      <input name="password" placeholder="Password" type="password" autoComplete="current-password" />
      <button>Log in</button>
      {problem && <p role="alert">{problem}</p>}
    </form>
  );
}

function LogOut({ name, session }: { name: string; session: Session }) {
  const [logOut] = useMutation(LOG_OUT);

  async function leave() {
    await logOut();
    session.end();
  }

  return (
    <p>
      {name} <button onClick={() => void leave()}>Log out</button>
    </p>
  );
}
