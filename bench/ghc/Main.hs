{-# LANGUAGE BangPatterns #-}
-- The GHC side of Lamprey's bench of transactional memory. It is driven like every other variant: lines
-- "run N" on stdin, lines "sample METRIC UNIT VALUE" and "done", or "error TEXT", on stdout (see
-- bench/harness/src/worker.rs). The operations are those of bench/src/work/stm.rs.
module Main (main) where

import Control.Concurrent (forkOn, newEmptyMVar, putMVar, setNumCapabilities, takeMVar)
import Control.Concurrent.MVar (MVar, readMVar)
import Control.Monad (forM, forM_, unless, void)
import Data.Array (Array, bounds, elems, listArray, (!))
import Data.Bits (shiftR, (.&.))
import Data.Word (Word64)
import GHC.Clock (getMonotonicTimeNSec)
import GHC.Conc (STM, TVar, atomically, newTVar, newTVarIO, readTVar, readTVarIO, writeTVar)
import System.Environment (getArgs)
import System.IO (BufferMode (LineBuffering), hSetBuffering, isEOF, stdout)

accounts, hot :: Int
accounts = 1024
hot = 8

each, keys :: Int
each = 2 ^ (40 :: Int)
keys = 64

-- | The next random number, and the state after it.
next :: Word64 -> Int -> (Int, Word64)
next !state !below = (fromIntegral (new `shiftR` 33) .&. (below - 1), new)
  where new = state * 6364136223846793005 + 1442695040888963407

-- | Runs a body on each capability; the nanoseconds from when all are let go until the last is done.
crowd :: Int -> (Int -> IO ()) -> IO Word64
crowd workers body = do
  gate <- newEmptyMVar :: IO (MVar ())
  ends <- forM [0 .. workers - 1] $ \me -> do
    here <- newEmptyMVar
    end <- newEmptyMVar
    void $ forkOn me $ do
      putMVar here ()
      readMVar gate
      body me
      putMVar end ()
    takeMVar here
    pure end
  begun <- getMonotonicTimeNSec
  putMVar gate ()
  mapM_ takeMVar ends
  ended <- getMonotonicTimeNSec
  pure (ended - begun)

times :: Int -> IO () -> IO ()
times !n act = go n
  where
    go :: Int -> IO ()
    go 0 = pure ()
    go !left = act >> go (left - 1)
{-# INLINE times #-}

counter :: Int -> Int -> IO Word64
counter workers n = do
  var <- newTVarIO (0 :: Int)
  took <- crowd workers $ \_ -> times n $ atomically $ do
    x <- readTVar var
    writeTVar var $! x + 1
  end <- readTVarIO var
  unless (end == n * workers) $ fail "additions were lost"
  pure took

transfer :: Array Int (TVar Int) -> Int -> Int -> IO ()
transfer all' from to = atomically $ do
  x <- readTVar (all' ! from)
  writeTVar (all' ! from) $! x - 1
  y <- readTVar (all' ! to)
  writeTVar (all' ! to) $! y + 1

bank :: Bool -> Int -> Int -> IO Word64
bank isHot workers n = do
  let few = if isHot then hot else accounts
      total = if isHot then few else few * workers
  vars <- listArray (0, total - 1) <$> forM [1 .. total] (\_ -> newTVarIO each)
  took <- crowd workers $ \me -> do
    let first = if isHot then 0 else me * few
        go :: Int -> Word64 -> IO ()
        go 0 _ = pure ()
        go !left !s = do
          let (from, s') = next s few
              (step, s'') = next s' (few `div` 2)
              to = (from + 1 + step) .&. (few - 1)
          transfer vars (first + from) (first + to)
          go (left - 1) s''
    go n (fromIntegral me)
  sums <- mapM readTVarIO (elems vars)
  unless (sum sums == (snd (bounds vars) + 1) * each) $ fail "money was lost"
  pure took

data List = Nil | Cons !Int !(TVar List)

-- | The place of the first node that is not below a key, and that node.
find :: TVar List -> Int -> STM (TVar List, List)
find place !key = do
  node <- readTVar place
  case node of
    Cons this rest | this < key -> find rest key
    _ -> pure (place, node)

contains, insert, remove :: TVar List -> Int -> STM Bool
contains list key = do
  (_, node) <- find list key
  pure $ case node of
    Cons this _ -> this == key
    Nil -> False
insert list key = do
  (place, node) <- find list key
  case node of
    Cons this _ | this == key -> pure False
    _ -> do
      rest <- newTVar node
      writeTVar place $! Cons key rest
      pure True
remove list key = do
  (place, node) <- find list key
  case node of
    Cons this rest | this == key -> do
      after <- readTVar rest
      writeTVar rest Nil
      writeTVar place after
      pure True
    _ -> pure False

list :: Int -> Int -> IO Word64
list workers n = do
  head' <- newTVarIO Nil
  forM_ [0, 2 .. keys - 1] $ \key -> atomically (insert head' key)
  crowd workers $ \me -> do
    let go :: Int -> Word64 -> IO ()
        go !i !s
          | i == n = pure ()
          | otherwise = do
              let (key, s') = next s keys
              found <- atomically $ case i `rem` 10 of
                8 -> insert head' key
                9 -> remove head' key
                _ -> contains head' key
              found `seq` go (i + 1) s'
    go 0 (fromIntegral me)

run :: Int -> Int -> IO ()
run workers n = do
  forM_ benches $ \(name, bench) -> do
    took <- bench workers n
    putStrLn $ "sample " ++ name ++ " ns " ++ show (fromIntegral took / fromIntegral (n * workers) :: Double)
  putStrLn "done"
  where
    benches = [("counter", counter), ("disjoint", bank False), ("hot", bank True), ("list", list)]

serve :: Int -> IO ()
serve workers = do
  over <- isEOF
  unless over $ do
    order <- getLine
    case words order of
      ["run", n] -> run workers (read n) >> serve workers
      _ -> putStrLn ("error not an order: " ++ order)

main :: IO ()
main = do
  hSetBuffering stdout LineBuffering
  arguments <- getArgs
  case arguments of
    ["stm", workers] -> setNumCapabilities (read workers) >> serve (read workers)
    _ -> putStrLn "error usage: ghc stm WORKERS"
