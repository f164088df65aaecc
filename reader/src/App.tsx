import { Suspense } from "react";
import { Route, Switch } from "wouter";
import { Frame } from "./components/Frame";
import { Loading } from "./components/Page";
import { FrontPage } from "./pages/FrontPage";
import { NotFound } from "./pages/NotFound";
import { PAGES } from "./routes";

export function App() {
  return (
    <Frame>
      <Suspense fallback={<Loading />}>
        <Switch>
          <Route path="/" component={FrontPage} />
          {PAGES.map(([path, Page]) => (
            <Route key={path} path={path} component={Page} />
          ))}
          <Route component={NotFound} />
        </Switch>
      </Suspense>
    </Frame>
  );
}
